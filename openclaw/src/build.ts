// What differs between the two builds of the one source. scripts/build.mjs sets the two constants.
declare const SKALD_PLUGIN_ID: string | undefined;
declare const SKALD_PLUGIN_VERSION: string | undefined;

export type PluginId = "skald" | "openviking";

/** The id of plugin, slot, registered engine and engine info alike. */
export const pluginId: PluginId = typeof SKALD_PLUGIN_ID === "string" && SKALD_PLUGIN_ID === "openviking" ? "openviking" : "skald";
export const pluginVersion: string = typeof SKALD_PLUGIN_VERSION === "string" ? SKALD_PLUGIN_VERSION : "0.0.0";
export const pluginName = pluginId === "skald" ? "Skald" : "Skald (in place of OpenViking)";
export const pluginDescription =
  "Context engine with durable history, traceable summaries and recall; connects to the skald daemon and starts it in local mode";

/** The version of /engine/v1 that this plugin speaks. */
export const protocolVersion = 1;
