/** Options that gatherd and in.gatherd share (GATHERD-11.1, 11.2). */
const GATHERD = {
  '-dir': '--dir',
  '-db': '--db',
  '-index': '--index',
  '-log': '--log',
  '-zip': '--zip',
  '-cf': '--cf',
};

/** The single-dash long options of the original programs (GATHERD-11.1, GATHERD-11.4, BRK-6.1), by our command. */
const ORIGINAL: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  gather: { '-info': '--info', '-nocompress': '--no-compress' },
  gatherd: GATHERD,
  'in.gatherd': GATHERD,
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
  gatherer: { '-force': '--force' },
  // E-117: as an option with an optional value, it would take the next file name as its value.
  essence: { '--full-text=raw': '--raw-text' },
  cleandb: { '-truncate': '--truncate' },
  broker: { '-new': '--new', '-nocol': '--nocol' },
  'broker-restart': { '-password': '--password' },
  dumpregistry: { '-count': '--count' },
  ftpget: { '-htmlify': '--htmlify' },
};

/**
 * Rewrites the original programs' options (`-info`) to ours (`--info`); commander would read them as a group of one-letter
 * options. `argv` is `process.argv`: interpreter, script, options of the program, command, its arguments. Arguments after `--`
 * and those of other commands stay unchanged.
 */
export function originalOptions(argv: readonly string[]): string[] {
  const at = argv.findIndex((word, i) => i >= 2 && !word.startsWith('-'));
  const options = at < 0 ? undefined : ORIGINAL[argv[at]!];
  if (options === undefined) return [...argv];
  const separator = argv.indexOf('--', at);
  const end = separator < 0 ? argv.length : separator;
  return argv.map((word, i) => (i > at && i < end ? (options[word] ?? word) : word));
}
