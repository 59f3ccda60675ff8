/** Resource limits of an external program (E-70). Plain data. */
export interface ProgramLimits {
  /**
   * Milliseconds of processor time of the program and of those that it starts; ten times as many by the clock.
   * Without /proc the time of the clock counts as if it were processor time. Default 20 000, which is below the
   * time limit of a document.
   */
  readonly timeMs?: number;
  /** Seconds of processor time of each process. Default 20. Needs `prlimit`. */
  readonly cpuSeconds?: number;
  /**
   * Bytes of writable memory (RLIMIT_DATA: reserved addresses do not count). Default 1 GiB. Needs `prlimit`.
   */
  readonly memoryBytes?: number;
  /** Bytes of each file that it writes. Default 256 MiB. Needs `prlimit`. */
  readonly fileBytes?: number;
  /**
   * Bytes of its standard output; at the limit it is killed and the output counts as truncated (E-69). Default
   * 16 MiB.
   */
  readonly outputBytes?: number;
  /** Characters kept of its standard error. Default 2000. */
  readonly stderrCharacters?: number;
}

/** Files of modules by type, absolute paths that end in `.js` or `.mjs`. */
export interface OwnModules {
  /** Modules that export `summarize`, as `TypeName.sum.mjs` does. */
  readonly summarizers?: Readonly<Record<string, string>>;
  /** Modules that export `unnest`, as `TypeName.unnest.mjs` does. */
  readonly unnesters?: Readonly<Record<string, string>>;
}

/**
 * Settings of external programs. Plain data, because it is posted to worker threads, whose own environment is
 * empty.
 */
export interface ProgramSettings {
  /** Directories that are searched for programs, in this order, before those of `path` (E-61). */
  readonly directories: readonly string[];
  /**
   * Further directories that are searched for `TypeName.sum` and `TypeName.unnest` of types that Essence cannot
   * read itself (E-61): a program that happens to be installed never replaces a built-in summarizer. Default
   * none.
   */
  readonly installedDirectories?: readonly string[];
  /** Modules by type, which precede all programs and modules of the directories. Default none. */
  readonly modules?: OwnModules;
  /**
   * The rest of the programs' `PATH`, after {@link directories} and the shipped `wrapit` and `FullText.sum`.
   */
  readonly path: string;
  /** Environment variables in addition to `PATH`, `LC_ALL` and `TMPDIR`, e.g. `HARVEST_HOME`. Default none. */
  readonly environment?: Readonly<Record<string, string>>;
  readonly limits?: ProgramLimits;
  /**
   * Where the files for programs are made; created with the first. Default: the system's directory for
   * temporary files.
   */
  readonly temporaryDirectory?: string;
  /** Whether those files are kept (G-12). Default false. */
  readonly keepFiles?: boolean;
}

/** {@link ProgramLimits} with every default filled in. */
export function programLimits(limits: ProgramLimits = {}): Required<ProgramLimits> {
  return {
    timeMs: limits.timeMs ?? 20_000,
    cpuSeconds: limits.cpuSeconds ?? 20,
    memoryBytes: limits.memoryBytes ?? 1024 * 1024 * 1024,
    fileBytes: limits.fileBytes ?? 256 * 1024 * 1024,
    outputBytes: limits.outputBytes ?? 16 * 1024 * 1024,
    stderrCharacters: limits.stderrCharacters ?? 2000,
  };
}
