/** What an external program may use (E-70). Plain data. */
export interface ProgramLimits {
  /** Milliseconds from start to end. Default 20 000: below the time limit of a document. */
  readonly timeMs?: number;
  /** Seconds of processor time. Default 20. Needs `prlimit`; without it only the time counts. */
  readonly cpuSeconds?: number;
  /** Bytes of memory it may write to (RLIMIT_DATA: reserved addresses do not count). Default 1 GiB. Needs `prlimit`. */
  readonly memoryBytes?: number;
  /** Bytes of any file it writes. Default 256 MiB. Needs `prlimit`. */
  readonly fileBytes?: number;
  /** Bytes of its standard output; then it is killed, and what came counts as cut (E-69). Default 16 MiB. */
  readonly outputBytes?: number;
  /** Characters kept of its standard error. Default 2000. */
  readonly complaintCharacters?: number;
}

/** How external programs are run. Plain data: it travels to worker threads, whose own environment is empty. */
export interface ProgramSettings {
  /** Directories in which programs are looked for, in this order, before the directories of `path` (E-61). */
  readonly directories: readonly string[];
  /** The `PATH` that programs see behind {@link directories} and the shipped `wrapit` and `FullText.sum`. */
  readonly path: string;
  /** Variables that programs see besides `PATH`, `LC_ALL` and `TMPDIR`, e.g. `HARVEST_HOME`. Default none. */
  readonly environment?: Readonly<Record<string, string>>;
  readonly limits?: ProgramLimits;
}

/** {@link ProgramLimits} with every default filled in. */
export function programLimits(limits: ProgramLimits = {}): Required<ProgramLimits> {
  return {
    timeMs: limits.timeMs ?? 20_000,
    cpuSeconds: limits.cpuSeconds ?? 20,
    memoryBytes: limits.memoryBytes ?? 1024 * 1024 * 1024,
    fileBytes: limits.fileBytes ?? 256 * 1024 * 1024,
    outputBytes: limits.outputBytes ?? 16 * 1024 * 1024,
    complaintCharacters: limits.complaintCharacters ?? 2000,
  };
}
