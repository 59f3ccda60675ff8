import type { Command } from 'commander';
import { editDistance } from '../../protocols/edit-distance.js';
import { type CommandEntry, GROUPS } from './command-entry.js';
import { sentence } from './help/command-help.js';

/** G-3, G-4: the original enumerators. */
const ENUMERATORS = [
  'httpenum',
  'httpenum-breadth',
  'httpenum-depth',
  'ftpenum',
  'gopherenum',
  'newsenum',
  'fileenum',
];

/** Builds a command; `harvest man` and others describe all commands. */
type Definition = (commands: readonly CommandEntry[]) => Command;

// The definitions of each family, loaded for the command that runs.
const RUN = async () => (await import('./run/run.js')).DEFINITIONS;
const INIT = async () => (await import('./init/init.js')).DEFINITIONS;
const GATHERER = async () => (await import('./gatherer/commands.js')).DEFINITIONS;
const SCHEDULE = async () => (await import('./schedule/schedule.js')).DEFINITIONS;
const CRAWL = async () => (await import('./crawl/commands.js')).DEFINITIONS;
const GATHERD = async () => (await import('./gatherd/commands.js')).DEFINITIONS;
const GATHER = async () => (await import('./gatherd/gather.js')).DEFINITIONS;
const BROKER = async () => (await import('./broker/commands.js')).DEFINITIONS;
const STORE = async () => (await import('./store/commands.js')).DEFINITIONS;
const REFERENCES = async () => (await import('./references/commands.js')).DEFINITIONS;
const REFERENCES_CLIENT = async () => (await import('./references/references.js')).DEFINITIONS;
const BROKER_CLIENTS = async () => (await import('./broker/client-commands.js')).DEFINITIONS;
const FETCH = async () => (await import('./fetch/commands.js')).DEFINITIONS;
const ESSENCE = async () => (await import('./essence/commands.js')).DEFINITIONS;
const SOIF = async () => (await import('./soif/commands.js')).DEFINITIONS;
const DB = async () => (await import('./db/commands.js')).DEFINITIONS;
const TESTING = async () => (await import('./testing/commands.js')).DEFINITIONS;
const URLS = async () => (await import('./testing/url-commands.js')).DEFINITIONS;
const HELP = async () => (await import('./help/help-commands.js')).DEFINITIONS;

/** @param originals the names of the original programs, if they differ */
function row<Name extends string>(
  name: Name,
  load: () => Promise<Readonly<Record<Name, Definition>>>,
  summary: string,
  ...originals: readonly string[]
): Omit<CommandEntry, 'group'> {
  return {
    name,
    originals,
    summary,
    load: async () => withDescription((await load())[name](COMMANDS), summary),
  };
}

/** Describes a command and its parts by their summaries, unless they have a description. */
function withDescription(command: Command, summary: string): Command {
  if (command.description() === '') command.description(sentence(summary));
  for (const part of command.commands) withDescription(part, part.summary());
  return command;
}

/** The commands of each group, in the order of the help. */
const GROUPED: Readonly<Record<keyof typeof GROUPS, readonly Omit<CommandEntry, 'group'>[]>> = {
  servers: [
    row('run', RUN, 'gather documents, serve the summaries, search them: everything in one process'),
    row(
      'init',
      INIT,
      'create a Gatherer and a Broker by answering a few questions, and run them',
      'RunHarvest',
    ),
    row('mirror', GATHERER, 'keep a copy of the documents of sites as files, with their summaries'),
    row('schedule', SCHEDULE, 'print cron lines or systemd units that gather and collect'),
    row(
      'gatherer',
      GATHERER,
      'gather the documents of a configuration file, publish the summaries, start gatherd',
      'Gatherer',
    ),
    row('crawl', CRAWL, 'inspect a crawl, pause it, end it, restore a checkpoint'),
    row('gatherd', GATHERD, "serve a Gatherer's published summaries to collectors"),
    row('in.gatherd', GATHERD, 'serve one collector on standard input and output, for inetd'),
    row('kill-gatherd', GATHERD, 'stop the gatherd that serves a directory'),
    row('broker', BROKER, 'collect summaries and answer queries about them'),
    row('broker-restart', BROKER, 'make a broker read its configuration again and reindex', 'BrokerRestart'),
    row('dumpregistry', BROKER, "print a broker's Registry"),
    row('mkbrokerstats', BROKER, "print a page of a stopped broker's statistics"),
    row('registry', BROKER, "read, write, check and repair an original broker's directory"),
    row('store', STORE, 'check the files of a gatherer or broker for damage, and repair them'),
    row('backup', STORE, 'copy a data directory while its servers run'),
    row('restore', STORE, 'restore a backup'),
    row('refererd', REFERENCES, 'serve the link graph: who links to whom'),
    row('turtle-passwd', REFERENCES, 'edit the user base of a references server', 'turtle_passwd'),
  ],
  clients: [
    row('query', BROKER_CLIENTS, 'search a broker'),
    row('references', REFERENCES_CLIENT, 'ask a references server who links to whom'),
    row('bulk', BROKER_CLIENTS, "fetch a broker's objects, or the changes since a time"),
    row('compare', BROKER_CLIENTS, 'compare the objects of two brokers'),
    row('brkclient', BROKER_CLIENTS, 'send one message to a broker and print the raw reply'),
    row('gather', GATHER, "fetch a Gatherer's summaries as one SOIF stream"),
    row('urlget', FETCH, 'fetch one document by any access method'),
    row('urlpurge', FETCH, 'empty the disk cache of urlget and the Gatherer'),
    row('ftpget', FETCH, 'fetch a file or a directory by FTP'),
    row('gopherget', FETCH, 'fetch a document or a menu by Gopher', 'gopherget.pl'),
    row('newsget', FETCH, 'fetch articles and group summaries by NNTP', 'newsget.pl'),
    row('essence', ESSENCE, 'recognize types, unpack and summarize files and URLs'),
  ],
  soif: [
    row('sgml-sum', ESSENCE, 'summarize an SGML document by an extraction table', 'SGML.sum'),
    row('soif', SOIF, 'check, print and convert SOIF streams'),
    row('cksoif', SOIF, 'validate as the original does: one line for each attempt to read an object'),
    row('mktemplate', SOIF, 'convert hand-written annotation files into SOIF'),
    row('annotate', SOIF, 'edit hand-written annotations by a form or on the command line'),
    row('wrapit', SOIF, 'convert standard input into one SOIF attribute'),
    row('print-attr', SOIF, "print one attribute's value of each object"),
    row('print-template', SOIF, 'print each object, with Print-Time added'),
    row('print-urlrefs', SOIF, "print each object's references and its URL, normalized"),
    row('lsm2soif', SOIF, 'convert Linux Software Map entries into SOIF', 'lsm2soif.pl'),
    row('iafa2soif', SOIF, 'convert IAFA templates into SOIF', 'iafa2soif.pl'),
    row('pcindex2soif', SOIF, 'convert the index of a PC software archive into SOIF', 'pcindex2soif.pl'),
    row('netfind2soif', SOIF, 'convert Netfind seed records into SOIF', 'netfind2soif.pl'),
  ],
  databases: [
    row('template2db', DB, 'store SOIF objects in a database file'),
    row('mergedb', DB, 'merge hand-written data into automatic data'),
    row('consoldb', DB, 'merge several databases into one'),
    row('expiredb', DB, 'delete expired objects from a database'),
    row('cleandb', DB, 'delete invalid objects from a database'),
    row('rmbinary', DB, 'remove binary data from a database'),
    row('gdbmutil', DB, 'read and edit databases, import original GDBM files'),
    row('folddb', DB, 'prepare a data directory for export: run all steps'),
    row('mkindex', DB, 'publish the database of a data directory'),
    row('mkcompressed', DB, 'write all published objects into All-Templates.gz'),
    row('mkgathererstats', DB, 'describe the published database', 'mkgathererstats.pl'),
    row('links', REFERENCES, 'load documents and links into the link graph, or dump it'),
    row('pagerank', REFERENCES, 'rank the documents of the published link graph'),
  ],
  testing: [
    row('conformance', TESTING, 'test a server, a client or SOIF against the specification'),
    row('spec', TESTING, 'print rules of the specifications'),
    row('url', URLS, 'print canonical form, SURT, fingerprint and queue of a URI'),
    row('robots', URLS, 'test URLs against a robots.txt'),
    row('enum', GATHERER, 'print the URLs of a RootNode', ...ENUMERATORS),
    row('doctor', TESTING, 'look for what could keep the programs from working here'),
    row('man', HELP, 'print manual pages'),
    row('completion', HELP, 'print the completion of bash, zsh or fish'),
    row('troubleshooting', HELP, 'print common problems of a Gatherer, their causes and remedies'),
  ],
};

/** Every command. */
export const COMMANDS: readonly CommandEntry[] = (Object.keys(GROUPS) as (keyof typeof GROUPS)[]).flatMap(
  (group) => GROUPED[group].map((entry) => ({ ...entry, group })),
);

/** Words that readers may try, and the command that each stands for. */
const SYNONYMS: Readonly<Record<string, string>> = {
  serve: 'run',
  start: 'run',
  index: 'run',
  search: 'query',
  find: 'query',
  fetch: 'gather',
  export: 'gather',
  setup: 'init',
  new: 'init',
  spider: 'crawl',
  backlinks: 'references',
  check: 'doctor',
  verify: 'store',
  manual: 'man',
  rule: 'spec',
  rules: 'spec',
  specification: 'spec',
};

/**
 * The commands that a reader who typed another word probably means: a synonym, else those with the most similar
 * names.
 */
export function suggestCommands(word: string): readonly string[] {
  const lower = word.toLowerCase();
  const synonym = SYNONYMS[lower];
  if (synonym !== undefined) return [synonym];
  if (lower.length > MAX_WORD) return [];
  const originals = COMMANDS.flatMap(({ originals }) => originals);
  const words = [...COMMANDS.map(({ name }) => name), ...originals, ...Object.keys(SYNONYMS)];
  const letters = [...lower];
  const distances = words.map((each) => editDistance(letters, [...each.toLowerCase()], MAX_WORD));
  const least = Math.min(...distances);
  if (least > Math.max(1, lower.length / 3)) return [];
  const nearest = words.filter((_, i) => distances[i] === least).map((each) => SYNONYMS[each] ?? each);
  const isFirst = (each: string, i: number): boolean =>
    nearest.findIndex((other) => other.toLowerCase() === each.toLowerCase()) === i;
  return nearest.filter(isFirst).slice(0, MAX_SUGGESTIONS);
}

const MAX_SUGGESTIONS = 3;
/** Letters of a word for which a command is suggested. */
const MAX_WORD = 40;

/** Returns the command with this name or original name; undefined if there is no such command. */
export function findCommand(name: string): CommandEntry | undefined {
  return COMMANDS.find((entry) => entry.name === name || entry.originals.includes(name));
}
