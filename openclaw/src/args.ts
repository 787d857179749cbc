// What a person types behind a command: words, quoted texts, --flags. Backslashes stay as they are, for paths of Windows.

export interface Args {
  /** What stands outside of flags, joined by spaces: a path or a query may be typed without quotes. */
  text: string;
  flags: Record<string, string | true>;
}

/** parseArgs reads a line. Names of flags that stand alone take no value. */
export function parseArgs(line: string, alone: readonly string[] = []): Args {
  const words = split(line);
  const text: string[] = [];
  const flags: Args["flags"] = {};
  for (let i = 0; i < words.length; i++) {
    const { value, quoted } = words[i]!;
    const flag = quoted ? null : /^--([A-Za-z][\w-]*)(?:=([\s\S]*))?$/.exec(value);
    if (!flag) {
      text.push(value);
      continue;
    }
    const name = flag[1]!.replaceAll("-", "_");
    const next = words[i + 1];
    if (flag[2] !== undefined) flags[name] = flag[2];
    else if (alone.includes(name) || !next || (!next.quoted && next.value.startsWith("--"))) flags[name] = true;
    else {
      flags[name] = next.value;
      i++;
    }
  }
  return { text: text.join(" "), flags };
}

interface Word {
  value: string;
  /** It began with a quote, so that it is no flag. */
  quoted: boolean;
}

function split(line: string): Word[] {
  const words: Word[] = [];
  for (const [, double, single, flag, quote, inner, bare] of line.matchAll(/"([^"]*)"|'([^']*)'|(--[\w-]+=)(["'])(.*?)\4|(\S+)/g)) {
    const quoted = double ?? single;
    if (quoted !== undefined) words.push({ value: quoted, quoted: true });
    else words.push({ value: quote ? `${flag}${inner}` : (bare ?? ""), quoted: false });
  }
  return words;
}
