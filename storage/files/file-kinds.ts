// What the files of a data directory are, by their names: which ones grow, are replaced, edited, or never change.

/** The list itself (file-list.ts). */
export const LIST_FILE = 'FILES';

/** What processes have while they run, private copies of readers, drafts, and what systems and editors leave. */
const IGNORED =
  /^(?:readers|console\.json|lost\+found|Thumbs\.db|desktop\.ini)$|^\.|\.(?:tmp|old|withdrawn|part|new|pid|lock|socket|sock|dbtmp)$|\.sqlite-(?:wal|shm|journal)$|\.(?:repaired|damaged|check|probe)-/;
/** The text logs of LevelDB, which each opening replaces and which nothing reads. */
const LEVEL_LOG = /^(?:.*\/)?(?:store|working|\d+)\/LOG(?:\.old)?$/;
/** Logs, which programs beside the owner of the directory write too: they may have become longer. */
const GROWING = /^(?:[^/]+\/)?(?:[^/]*[^/\d][^/]*\.log|log\.[^/]+|[^/]+\.out|LOG)$/;
/** Files of a crawl to which it appends. */
const APPENDED = /^crawl\/(?:logs|warc)\/[^/]+(?:\.log|\.gz|\.open)$/;
/** Configurations and scripts, which people edit. */
const EDITED = /\.(?:cf|conf|xml|sh|css|html?)$|^(?:RunGatherer|RunGatherd|RunBroker)$/;
/** Files that are written once: while the list is open, they are those that are listed, or gone. */
const FINAL =
  /^reserve$|^(?:generations|references)\/\d+\/|^crawl\/checkpoints\/|\.(?:ldb|sst)$|(?:^|\/)LOGIN-KEY$|\.w?arc(?:\.gz|\.zst)?(?:\.cdxj)?$|\.cp\d+-\d+$/;
/** Every replacement and removal of such a file is noted in the list (note-change.ts). */
const REPLACED =
  /^(?:generations|references|index)\/CURRENT$|^index\/\d+\/(?:state\.json|SUMS)$|^admin\/LAST-COLLECTION$|^crawl\/(?:restored\.json|reports\/[^/]+)$/;
/** The files of an open store, which LevelDB makes and removes: a check of the store misses them. */
const LEVEL = /^(?:working|store)\//;
/** Of those, the ones to which LevelDB appends. */
const LEVEL_GROWING = /^(?:working|store)\/(?:MANIFEST-\d+|\d+\.log)$/;
/** Those that never change as soon as the MANIFEST names them. */
const LEVEL_TABLE = /^(?:working|store)\/\d+\.(?:ldb|sst)$/;
/** Those that nothing removes while the store is open. */
const LEVEL_KEPT = /^(?:working|store)\/(?:LOGIN-KEY|LENGTHS|LOCK|CURRENT)$/;
/** Removed and made again in the course of a run, and checked by their reader. */
const PASSING = /^seen\/|\.open$|^(?:working|store)\/SEAL$/;
/** Directories that appear and go as a whole. */
const UNIT = /^(?:(?:generations|references|index)\/\d+|crawl\/checkpoints\/[^/]+)(?=\/)/;
/** It is never made again, and nothing else misses it. */
const KEY = /^working\/LOGIN-KEY$/;
/** What programs that rotate logs leave, and remove some day. */
const ROTATED = /(?:\.log|\.out|\/LOG|^log\.\w+)[.-]\d+(?:\.(?:gz|xz|zst|bz2))?$/;

/** Directories whose names all come from the kit. */
const STRICT =
  /^(?:[^/]+|(?:working|store|generations|references|index|admin)\/.*|crawl\/(?:checkpoints|logs|reports)\/.*)$/;
/** The files of a filter of seen URIs. */
const SEEN = /^seen\/[^/]+\/(?:log-\d+|run-\d+|runs\.json|seen\.log)$/;
/** The names that programs of the kit make in them, besides those above. */
const OWN =
  /^(?:reserve|Registry)$|^(?:working|store)\/(?:CURRENT|LOCK|SEAL|LENGTHS|LOGIN-KEY|STORE-URL|LOG(?:\.old)?|MANIFEST-\d{6,}|\d{6,}\.(?:log|ldb|sst))$|^crawl\/logs\/|^admin\/(?:LOG|LAST-COLLECTION)$/;
/** The files of an index of the embedded engine; other programs choose their own names. */
const INDEX_FILE = /\/(?:index\.sqlite|state\.json|SUMS)$/;

export type FileKind = 'final' | 'growing' | 'replaced' | 'edited' | 'level' | 'passing' | 'other';

/** @param name of a file or a directory, without those above it */
export const isIgnored = (name: string): boolean => IGNORED.test(name);

/** Whether the list has no place for a path: a draft, a text log of LevelDB, a private copy, the list itself. */
export function isUnlisted(path: string): boolean {
  return path === LIST_FILE || LEVEL_LOG.test(path) || path.split('/').some(isIgnored);
}

/** @param path within the data directory, with `/` */
export function kindOf(path: string): FileKind {
  if (LEVEL.test(path) && !KEY.test(path)) return PASSING.test(path) ? 'passing' : 'level';
  if (REPLACED.test(path)) return 'replaced';
  if (FINAL.test(path)) return 'final';
  if (PASSING.test(path)) return 'passing';
  if (GROWING.test(path) || APPENDED.test(path)) return 'growing';
  return EDITED.test(path) ? 'edited' : 'other';
}

/** Whether a file may have become longer after the program of the directory ended. */
export const mayGrow = (path: string): boolean => GROWING.test(path);

export const isEdited = (path: string): boolean => EDITED.test(path);
export const isFinal = (path: string): boolean => FINAL.test(path);
export const isKey = (path: string): boolean => KEY.test(path);
export const isRotated = (path: string): boolean => ROTATED.test(path);
/** The sums of an index, which are removed before it is changed. */
export const isIndexSums = (path: string): boolean => /^index\/\d+\/SUMS$/.test(path);
/** Whether a file of an open store is there as long as the store is open. */
export const isKeptByLevel = (path: string): boolean => LEVEL_KEPT.test(path);

/** Whether it is a log or MANIFEST of an open store. */
export const growsInLevel = (path: string): boolean => LEVEL_GROWING.test(path);
/** Whether it is a table of an open store. */
export const isTable = (path: string): boolean => LEVEL_TABLE.test(path);

/** The generation, index or checkpoint that a file belongs to: it appears and goes as a whole. */
export const unitOf = (path: string): string | undefined => UNIT.exec(path)?.[0];

/** The generations, indexes and checkpoints that a list has, as it is at the first question. */
export class Units {
  readonly #files: ReadonlyMap<string, unknown>;
  #units: ReadonlySet<string> | undefined;

  constructor(files: ReadonlyMap<string, unknown>) {
    this.#files = files;
  }

  has(unit: string): boolean {
    this.#units ??= new Set(
      [...this.#files.keys()].flatMap((path) => {
        const found = unitOf(path);
        // Of the indexes only those whose names are known.
        const isKnown = found?.startsWith('index/') !== true || path.endsWith('/index.sqlite');
        return found !== undefined && isKnown ? [found] : [];
      }),
    );
    return this.#units.has(unit);
  }
}

/**
 * Whether no program of the kit makes a file of this name at this place.
 *
 * @param units those that are whole: a generation or a checkpoint gets its files before its name
 */
export function isForeign(path: string, units: Units): boolean {
  const unit = unitOf(path);
  if (unit !== undefined) return units.has(unit) && !(unit.startsWith('index/') && INDEX_FILE.test(path));
  if (path.startsWith('seen/')) return !SEEN.test(path);
  if (!STRICT.test(path) || OWN.test(path) || isRotated(path)) return false;
  return kindOf(path) === 'level' || kindOf(path) === 'other' || (isFinal(path) && !/arc/.test(path));
}
