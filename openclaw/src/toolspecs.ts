// The tools offered to the model: names, texts, parameters. What they do is the daemon's.

/** The groups that enabledTools and disabledTools know. */
export type Group = "memory" | "archive" | "resource_query" | "import" | "recall_trace" | "tool_result";

export interface ToolSpec {
  name: string;
  label: string;
  group: Group;
  text: string;
  parameters: Record<string, object>;
  required: string[];
}

const text = (description: string) => ({ type: "string", description });
const count = (description: string, most = 100) => ({ type: "integer", minimum: 1, maximum: most, description });
const flag = (description: string) => ({ type: "boolean", description });
const query = text("What to look for, in plain words");
const archive = { archive: text("Id or viking:// URI of the archive"), archiveId: text("The same as archive") };
const importing = {
  source: text("A file or folder of this machine, an http(s) URL, or a Git address"),
  to: text("viking:// URI that it gets"),
  parent: text("viking:// URI of the folder that it goes into; not together with to"),
  reason: text("Why it is imported"),
  instruction: text("How it is to be understood"),
  wait: flag("Answer when it can be searched"),
  timeout: count("Seconds to wait", 3600),
};

/** Every tool there is. The manifest declares them all. */
export const toolSpecs: readonly ToolSpec[] = [
  {
    name: "memory_recall",
    label: "Recall",
    group: "memory",
    text: "Search long-term memory, archived conversations and earlier messages. Use it before answering about earlier work, decisions, people, dates or preferences that are not visible.",
    parameters: { query, limit: count("Most results") },
    required: ["query"],
  },
  {
    name: "memory_recall_auto",
    label: "Recall (automatic)",
    group: "memory",
    text: "The automatic form of memory_recall, which runs before each prompt.",
    parameters: { query },
    required: ["query"],
  },
  {
    name: "memory_expand",
    label: "Expand",
    group: "memory",
    text: "Open a summary, archive, memory or turn by its viking:// URI and read the original messages behind it.",
    parameters: {
      uri: text("viking:// URI of a summary, archive, memory or turn"),
      summaryOrMemoryUri: text("The same as uri"),
      query: text("Show only the messages that match"),
      limit: count("Most messages"),
    },
    required: [],
  },
  {
    name: "memory_store",
    label: "Remember",
    group: "memory",
    text: "Store a fact for good. Use it when the user asks to remember something.",
    parameters: { text: text("The fact, in one or a few complete sentences"), type: text("profile, preferences, entities, events, cases or patterns") },
    required: ["text"],
  },
  {
    name: "memory_forget",
    label: "Forget",
    group: "memory",
    text: "Take a memory out of recall for good, by its URI or by a query that finds it.",
    parameters: { uri: text("viking:// URI of the memory"), query: text("What the memory says") },
    required: [],
  },
  {
    name: "ov_archive_search",
    label: "Search archives",
    group: "archive",
    text: "Search the archived messages of this session for words.",
    parameters: { query: text("Words to find"), archive: text("Search this archive only"), archiveId: text("The same as archive") },
    required: ["query"],
  },
  {
    name: "ov_archive_expand",
    label: "Expand archive",
    group: "archive",
    text: "Read the messages of one archive of this session.",
    parameters: archive,
    required: [],
  },
  {
    name: "ov_search",
    label: "Search resources and skills",
    group: "resource_query",
    text: "Search imported resources and skills. Use it to find documents, or a skill for the task at hand.",
    parameters: { query, uri: text("viking:// URI of a folder to search below"), limit: count("Most results") },
    required: ["query"],
  },
  {
    name: "ov_read",
    label: "Read",
    group: "resource_query",
    text: "Read a file of the viking:// tree; a skill's folder reads as its SKILL.md.",
    parameters: { uri: text("viking:// URI, as a search or list gave it"), offset: { type: "integer", minimum: 0, description: "Characters to skip" } },
    required: ["uri"],
  },
  {
    name: "ov_multi_read",
    label: "Read several",
    group: "resource_query",
    text: "Read several files of the viking:// tree.",
    parameters: { uris: { type: "array", items: { type: "string" }, minItems: 1, maxItems: 20, description: "viking:// URIs" } },
    required: ["uris"],
  },
  {
    name: "ov_list",
    label: "List",
    group: "resource_query",
    text: "List a folder of the viking:// tree.",
    parameters: { uri: text("viking:// URI of the folder"), recursive: flag("All below it"), simple: flag("URIs only"), limit: count("Most entries", 1000) },
    required: ["uri"],
  },
  {
    name: "ov_import",
    label: "Import",
    group: "import",
    text: "Import a file, folder, web page or repository as a resource, or a skill, so that it can be searched from now on.",
    parameters: { ...importing, kind: { type: "string", enum: ["resource", "skill"], description: "Default: resource" } },
    required: ["source"],
  },
  {
    name: "add_resource",
    label: "Add resource",
    group: "import",
    text: "The same as ov_import of a resource.",
    parameters: importing,
    required: ["source"],
  },
  {
    name: "add_skill",
    label: "Add skill",
    group: "import",
    text: "Store a skill: a SKILL.md, its folder or a zip archive as source, or its text as data.",
    parameters: { source: text("SKILL.md, folder or zip archive of this machine"), data: text("Text of the SKILL.md"), to: importing.to, wait: importing.wait, timeout: importing.timeout },
    required: [],
  },
  {
    name: "ov_recall_trace",
    label: "Recall trace",
    group: "recall_trace",
    text: "Show what was recalled before the last answers of this session, and why.",
    parameters: { turn: { type: "string", enum: ["latest", "all"], description: "Default: latest" }, includeContent: flag("With the recalled texts"), limit: count("Most recalls") },
    required: [],
  },
  {
    name: "openviking_tool_result_read",
    label: "Read tool result",
    group: "tool_result",
    text: "Read a long tool result of this session that stands in the conversation as a reference.",
    parameters: {
      tool_output_ref: text("The reference, a viking:// URI"),
      offset: { type: "integer", minimum: 0, description: "Characters to skip" },
      limit: { type: "integer", minimum: -1, description: "Most characters (default 20000)" },
    },
    required: ["tool_output_ref"],
  },
  {
    name: "openviking_tool_result_search",
    label: "Search tool result",
    group: "tool_result",
    text: "Search a long tool result of this session.",
    parameters: { tool_output_ref: text("The reference, a viking:// URI"), query: text("Words to find"), limit: count("Most matches"), context_chars: count("Characters around a match", 2000) },
    required: ["tool_output_ref", "query"],
  },
  {
    name: "openviking_tool_result_list",
    label: "List tool results",
    group: "tool_result",
    text: "List the long tool results of this session.",
    parameters: { tool_name: text("Only of this tool"), limit: count("Most results") },
    required: [],
  },
];
