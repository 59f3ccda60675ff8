import type { Command } from 'commander';

/** Options that gatherd and in.gatherd share (GATHERD-11.1, 11.2). */
const GATHERD_OPTIONS = {
  '-dir': '--dir',
  '-db': '--db',
  '-index': '--index',
  '-log': '--log',
  '-zip': '--zip',
  '-cf': '--cf',
};

/**
 * The single-dash long options of the original programs (GATHERD-11.1, GATHERD-11.4, BRK-6.1), by command of
 * the kit.
 */
const ORIGINAL_OPTIONS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  gather: { '-info': '--info', '-nocompress': '--no-compress' },
  gatherd: GATHERD_OPTIONS,
  'in.gatherd': GATHERD_OPTIONS,
  'kill-gatherd': { '-dir': '--dir' },
  // G-11, G-12.
  gatherer: {
    '-force': '--force',
    '-background': '--background',
    '-export': '--export',
    '-manual': '--manual',
    '-debug': '--debug-all',
  },
  // E-117: as an option with an optional value, it would take the next file name as its value.
  essence: { '--full-text=raw': '--raw-text' },
  cleandb: { '-truncate': '--truncate' },
  broker: { '-new': '--new', '-nocol': '--nocol' },
  'broker-restart': { '-password': '--password' },
  dumpregistry: { '-count': '--count' },
  ftpget: { '-htmlify': '--htmlify' },
};

/** G-159: commands whose long options without a value may all be written with one dash. */
const WITH_ONE_DASH: ReadonlySet<string> = new Set(['init']);

/**
 * Rewrites the original programs' options (`-info`) to ours (`--info`); commander would read `-info` as a group
 * of one-letter options. `argv` is `process.argv`: interpreter, script, options of the program, command, its
 * arguments. Arguments after `--` and those of other commands stay unchanged.
 *
 * @param loaded returns the command of a name
 */
export function originalOptions(
  argv: readonly string[],
  loaded: (name: string) => Command | undefined = () => undefined,
): string[] {
  const commandIndex = argv.findIndex((word, i) => i >= 2 && !word.startsWith('-'));
  const name = argv[commandIndex] ?? '';
  const options = WITH_ONE_DASH.has(name) ? withOneDash(loaded(name)) : ORIGINAL_OPTIONS[name];
  if (options === undefined) return [...argv];
  const separator = argv.indexOf('--', commandIndex);
  const end = separator < 0 ? argv.length : separator;
  return argv.map((word, i) => (i > commandIndex && i < end ? (options[word] ?? word) : word));
}

function withOneDash(command: Command | undefined): Readonly<Record<string, string>> {
  const flags = (command?.options ?? []).flatMap(({ long, required, optional }) =>
    long == null || required || optional ? [] : [long],
  );
  return Object.fromEntries(flags.map((flag) => [flag.slice(1), flag]));
}
