// The administrative commands: their parameters, and how forms and help texts list them.
import type { Query } from './message-content.js';

/** The administrative commands of BRK-5.1; `kind` is the keyword without `#`. */
export type AdminCommand =
  | { readonly kind: 'add-object'; readonly files: readonly string[] }
  | { readonly kind: 'rem-object-oid'; readonly oids: readonly number[] }
  | { readonly kind: 'rem-object-path'; readonly path: string }
  | { readonly kind: 'rem-object-query'; readonly query: Query }
  | { readonly kind: 'add-log' | 'rem-log'; readonly event: string }
  | { readonly kind: 'open-log'; readonly file?: string }
  | { readonly kind: 'set'; readonly name: string; readonly value: string }
  | { readonly kind: PlainAdminKeyword };

/** Administrative keywords without a parameter. */
export type PlainAdminKeyword = Exclude<(typeof ROWS)[number], { readonly parameter: string }>['kind'];

/** An administrative command as forms and help texts list it. */
export interface AdminCommandTitle {
  readonly kind: AdminCommand['kind'];
  /** BRK-5.1: the title in the WWW form. */
  readonly title: string;
  /** Describes the parameters; undefined for a command without parameters. */
  readonly parameter?: string;
  readonly effect: string;
}

const ROWS = [
  {
    kind: 'add-object',
    title: 'Add objects by file',
    parameter: 'names of files',
    effect: 'adds the SOIF objects in these files',
  },
  { kind: 'close-log', title: 'Close log', effect: 'stops logging until a log is opened' },
  {
    kind: 'compress-registry',
    title: 'Compress Registry',
    effect: 'rewrites the store without deleted records',
  },
  {
    kind: 'clean-broker',
    title: 'Delete expired objects',
    effect: 'deletes objects whose time to live has run out',
  },
  {
    kind: 'rem-dups',
    title: 'Delete older objects of duplicate URLs',
    effect: 'keeps only the newest of several objects with the same URL',
  },
  {
    kind: 'rem-object-oid',
    title: 'Delete objects by oid',
    parameter: 'OIDs',
    effect: 'deletes these objects; dumpregistry prints the OIDs',
  },
  {
    kind: 'rem-object-query',
    title: 'Delete objects by query',
    parameter: 'a query, without flags',
    effect: 'deletes the objects that match',
  },
  {
    kind: 'rem-log',
    title: 'Disable log type',
    parameter: 'a type of event',
    effect: 'stops logging that type',
  },
  {
    kind: 'add-log',
    title: 'Enable log type',
    parameter: 'a type of event',
    effect: 'starts logging that type',
  },
  { kind: 'flush-log', title: 'Flush log', effect: 'writes out buffered lines' },
  { kind: 'do-stats', title: 'Generate statistics', effect: 'shows the counts, the log and the timetable' },
  {
    kind: 'incremental-index',
    title: 'Index changes',
    effect: 'indexes what changed since the last indexing',
  },
  { kind: 'full-index', title: 'Index corpus', effect: 'indexes everything again' },
  {
    kind: 'open-log',
    title: 'Open log',
    parameter: 'a file, or nothing',
    effect: "opens a log; the name is relative to the Broker's directory",
  },
  {
    kind: 'rem-object-path',
    title: 'Remove object by name',
    parameter: 'URL or name of an object',
    effect: 'deletes one object',
  },
  {
    kind: 'restart',
    title: 'Restart server',
    effect: 'rereads the configuration and the Registry, then indexes',
  },
  {
    kind: 'rotate-log',
    title: 'Rotate log file',
    effect: 'renames the log to LOG.YYYYMMDD and starts a new one',
  },
  {
    kind: 'set',
    title: 'Set variable',
    parameter: 'name and value',
    effect: 'sets a variable of broker.conf for this run',
  },
  { kind: 'shutdown', title: 'Shutdown server', effect: 'stops the Broker' },
  {
    kind: 'collection',
    title: 'Start collection',
    effect: 'collects from every point of Collection.conf now',
  },
] as const;

/** BRK-5.1: every command, with the title and the order of the WWW form. */
export const ADMIN_COMMANDS: readonly AdminCommandTitle[] = ROWS;

/** Whether a word is the keyword of a command without a parameter. */
export function isPlainKeyword(name: string): name is PlainAdminKeyword {
  return ADMIN_COMMANDS.some(({ kind, parameter }) => kind === name && parameter === undefined);
}
