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
  // G-159.
  init: {
    '-novice': '--novice',
    '-glimpse': '--glimpse',
    '-swish': '--swish',
    '-dumbtty': '--dumbtty',
    '-debug': '--debug',
    '-dont-run': '--dont-run',
    '-fake': '--fake',
    '-protect': '--protect',
  },
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

/**
 * Rewrites the original programs' options (`-info`) to ours (`--info`); commander would read `-info` as a group
 * of one-letter options. `argv` is `process.argv`: interpreter, script, options of the program, command, its
 * arguments. Arguments after `--` and those of other commands stay unchanged.
 */
export function originalOptions(argv: readonly string[]): string[] {
  const commandIndex = argv.findIndex((word, i) => i >= 2 && !word.startsWith('-'));
  const options = commandIndex < 0 ? undefined : ORIGINAL_OPTIONS[argv[commandIndex]!];
  if (options === undefined) return [...argv];
  const separator = argv.indexOf('--', commandIndex);
  const end = separator < 0 ? argv.length : separator;
  return argv.map((word, i) => (i > commandIndex && i < end ? (options[word] ?? word) : word));
}
