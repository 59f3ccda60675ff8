import { type CommandEntry, GROUPS } from './command-entry.js';

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

/** What the converters of E-48 to E-51 read. */
const FOREIGN_LISTS = {
  lsm2soif: 'Linux Software Map entries',
  iafa2soif: 'IAFA templates',
  pcindex2soif: 'the index of a PC software archive',
  netfind2soif: 'Netfind seed records',
} as const;

/** The commands of each group, in the order of the help. */
const GROUPED: Readonly<Record<keyof typeof GROUPS, readonly Omit<CommandEntry, 'group'>[]>> = {
  servers: [
    {
      name: 'run',
      summary: 'gather documents, serve the summaries, search them: everything in one process',
      load: async () => (await import('./run/run.js')).runCommand(COMMANDS),
    },
    {
      name: 'init',
      originals: ['RunHarvest'],
      summary: 'create a Gatherer and a Broker by answering a few questions, and run them',
      load: async () => (await import('./init/init.js')).initCommand(),
    },
    {
      name: 'mirror',
      summary: 'keep a copy of the documents of sites as files, with their summaries',
      load: async () => (await import('./gatherer/mirror.js')).mirrorCommand(),
    },
    {
      name: 'schedule',
      summary: 'print cron lines or systemd units that gather and collect',
      load: async () => (await import('./schedule/schedule.js')).scheduleCommand(),
    },
    {
      name: 'gatherer',
      originals: ['Gatherer'],
      summary: 'gather the documents of a configuration file, publish the summaries, start gatherd',
      load: async () => (await import('./gatherer/gatherer.js')).gathererCommand(),
    },
    {
      name: 'crawl',
      summary: 'inspect a crawl, pause it, end it, restore a checkpoint',
      load: async () => (await import('./crawl/crawl.js')).crawlCommand(),
    },
    {
      name: 'gatherd',
      summary: "serve a Gatherer's published summaries to collectors",
      load: async () => (await import('./gatherd/gatherd.js')).gatherdCommand(),
    },
    {
      name: 'in.gatherd',
      summary: 'serve one collector on standard input and output, for inetd',
      load: async () => (await import('./gatherd/gatherd.js')).inGatherdCommand(),
    },
    {
      name: 'kill-gatherd',
      summary: 'stop the gatherd that serves a directory',
      load: async () => (await import('./gatherd/gatherd.js')).killGatherdCommand(),
    },
    {
      name: 'broker',
      summary: 'collect summaries and answer queries about them',
      load: async () => (await import('./broker/broker.js')).brokerCommand(),
    },
    {
      name: 'broker-restart',
      originals: ['BrokerRestart'],
      summary: 'make a broker read its configuration again and reindex',
      load: async () => (await import('./broker/broker-admin.js')).brokerRestartCommand(),
    },
    {
      name: 'dumpregistry',
      summary: "print a broker's Registry",
      load: async () => (await import('./broker/dumpregistry.js')).dumpregistryCommand(),
    },
    {
      name: 'mkbrokerstats',
      summary: "print a page of a stopped broker's statistics",
      load: async () => (await import('./broker/mkbrokerstats.js')).mkbrokerstatsCommand(),
    },
    {
      name: 'registry',
      summary: "read, write, check and repair an original broker's directory",
      load: async () => (await import('./broker/registry.js')).registryCommand(),
    },
    {
      name: 'store',
      summary: 'check the files of a gatherer or broker for damage, and repair them',
      load: async () => (await import('./store/store.js')).storeCommand(),
    },
    {
      name: 'backup',
      summary: 'copy a data directory while its servers run',
      load: async () => (await import('./store/backup.js')).backupCommand(),
    },
    {
      name: 'restore',
      summary: 'bring a backup back',
      load: async () => (await import('./store/backup.js')).restoreCommand(),
    },
    {
      name: 'refererd',
      summary: 'serve the link graph: who links to whom',
      load: async () => (await import('./references/refererd.js')).refererdCommand(),
    },
    {
      name: 'turtle-passwd',
      originals: ['turtle_passwd'],
      summary: 'edit the user base of a references server',
      load: async () => (await import('./references/turtle-passwd.js')).turtlePasswdCommand(),
    },
  ],
  clients: [
    {
      name: 'query',
      summary: 'search a broker',
      load: async () => (await import('./broker/query.js')).queryCommand(),
    },
    {
      name: 'references',
      summary: 'ask a references server who links to whom',
      load: async () => (await import('./references/references.js')).referencesCommand(),
    },
    {
      name: 'bulk',
      summary: "fetch a broker's objects, or the changes since a time",
      load: async () => (await import('./broker/bulk.js')).bulkCommand(),
    },
    {
      name: 'compare',
      summary: 'compare the objects of two brokers',
      load: async () => (await import('./broker/compare.js')).compareCommand(),
    },
    {
      name: 'brkclient',
      summary: 'send one message to a broker and print the raw reply',
      load: async () => (await import('./broker/brkclient.js')).brkclientCommand(),
    },
    {
      name: 'gather',
      summary: "fetch a Gatherer's summaries as one SOIF stream",
      load: async () => (await import('./gatherd/gather.js')).gatherCommand(),
    },
    {
      name: 'urlget',
      summary: 'fetch one document by any access method',
      load: async () => (await import('./fetch/urlget.js')).urlgetCommand(),
    },
    {
      name: 'urlpurge',
      summary: 'empty the disk cache of urlget and the Gatherer',
      load: async () => (await import('./fetch/urlget.js')).urlpurgeCommand(),
    },
    {
      name: 'ftpget',
      summary: 'fetch a file or a directory by FTP',
      load: async () => (await import('./fetch/ftpget.js')).ftpgetCommand(),
    },
    {
      name: 'gopherget',
      originals: ['gopherget.pl'],
      summary: 'fetch a document or a menu by Gopher',
      load: async () => (await import('./fetch/gopherget.js')).gophergetCommand(),
    },
    {
      name: 'newsget',
      originals: ['newsget.pl'],
      summary: 'fetch articles and group summaries by NNTP',
      load: async () => (await import('./fetch/newsget.js')).newsgetCommand(),
    },
    {
      name: 'essence',
      summary: 'recognize types, unpack and summarize files and URLs',
      load: async () => (await import('./essence/essence.js')).essenceCommand(),
    },
  ],
  soif: [
    {
      name: 'sgml-sum',
      originals: ['SGML.sum'],
      summary: 'summarize an SGML document by an extraction table',
      load: async () => (await import('./essence/sgml-sum.js')).sgmlSumCommand(),
    },
    {
      name: 'soif',
      summary: 'check, print and convert SOIF streams',
      load: async () => (await import('./soif/soif.js')).soifCommand(),
    },
    {
      name: 'cksoif',
      summary: 'the original validator: one line for each attempt to read an object',
      load: async () => (await import('./soif/check.js')).cksoifCommand(),
    },
    {
      name: 'mktemplate',
      summary: 'convert hand-written annotation files into SOIF',
      load: async () => (await import('./soif/mktemplate.js')).mktemplateCommand(),
    },
    {
      name: 'annotate',
      summary: 'edit hand-written annotations by a form or on the command line',
      load: async () => (await import('./soif/annotate.js')).annotateCommand(),
    },
    {
      name: 'wrapit',
      summary: 'convert standard input into one SOIF attribute',
      load: async () => (await import('./soif/wrapit.js')).wrapitCommand(),
    },
    {
      name: 'print-attr',
      summary: "print one attribute's value of each object",
      load: async () => (await import('./soif/print.js')).printAttrCommand(),
    },
    {
      name: 'print-template',
      summary: 'print each object, with Print-Time added',
      load: async () => (await import('./soif/print.js')).printTemplateCommand(),
    },
    {
      name: 'print-urlrefs',
      summary: "print each object's references and its URL, normalized",
      load: async () => (await import('./soif/print.js')).printUrlrefsCommand(),
    },
    ...(['lsm2soif', 'iafa2soif', 'pcindex2soif', 'netfind2soif'] as const).map((name) => ({
      name,
      originals: [`${name}.pl`],
      summary: `convert ${FOREIGN_LISTS[name]} into SOIF`,
      load: async () => (await import('./soif/to-soif.js')).toSoifCommand(name),
    })),
  ],
  databases: [
    {
      name: 'template2db',
      summary: 'store SOIF objects in a database file',
      load: async () => (await import('./db/load.js')).template2dbCommand(),
    },
    {
      name: 'mergedb',
      summary: 'merge hand-written data into automatic data',
      load: async () => (await import('./db/merge.js')).mergedbCommand(),
    },
    {
      name: 'consoldb',
      summary: 'merge several databases into one',
      load: async () => (await import('./db/merge.js')).consoldbCommand(),
    },
    {
      name: 'expiredb',
      summary: 'delete expired objects from a database',
      load: async () => (await import('./db/maintain.js')).expiredbCommand(),
    },
    {
      name: 'cleandb',
      summary: 'delete invalid objects from a database',
      load: async () => (await import('./db/maintain.js')).cleandbCommand(),
    },
    {
      name: 'rmbinary',
      summary: 'remove binary data from a database',
      load: async () => (await import('./db/maintain.js')).rmbinaryCommand(),
    },
    {
      name: 'gdbmutil',
      summary: 'read and edit databases, import original GDBM files',
      load: async () => (await import('./db/gdbmutil.js')).gdbmutilCommand(),
    },
    {
      name: 'folddb',
      summary: 'prepare a data directory for export: run all steps',
      load: async () => (await import('./db/folddb.js')).folddbCommand(),
    },
    {
      name: 'mkindex',
      summary: 'publish the database of a data directory',
      load: async () => (await import('./db/publish.js')).mkindexCommand(),
    },
    {
      name: 'mkcompressed',
      summary: 'write all published objects into All-Templates.gz',
      load: async () => (await import('./db/publish.js')).mkcompressedCommand(),
    },
    {
      name: 'mkgathererstats',
      originals: ['mkgathererstats.pl'],
      summary: 'describe the published database',
      load: async () => (await import('./db/publish.js')).mkgathererstatsCommand(),
    },
    {
      name: 'links',
      summary: 'load documents and links into the link graph, or dump it',
      load: async () => (await import('./references/links.js')).linksCommand(),
    },
    {
      name: 'pagerank',
      summary: 'rank the documents of the published link graph',
      load: async () => (await import('./references/pagerank.js')).pagerankCommand(),
    },
  ],
  testing: [
    {
      name: 'conformance',
      summary: 'test a server, a client or SOIF against the specification',
      load: async () => (await import('./testing/conformance.js')).conformanceCommand(),
    },
    {
      name: 'url',
      summary: 'print canonical form, SURT, fingerprint and queue of a URI',
      load: async () => (await import('./testing/url.js')).urlCommand(),
    },
    {
      name: 'robots',
      summary: 'test URLs against a robots.txt',
      load: async () => (await import('./testing/robots.js')).robotsCommand(),
    },
    {
      name: 'enum',
      originals: ENUMERATORS,
      summary: 'print the URLs of a RootNode',
      load: async () => (await import('./gatherer/enum.js')).enumCommand(),
    },
    {
      name: 'doctor',
      summary: 'look for what could keep the programs from working here',
      load: async () => (await import('./testing/doctor.js')).doctorCommand(),
    },
    {
      name: 'man',
      summary: 'print manual pages',
      load: async () => (await import('./help/help-commands.js')).manCommand(COMMANDS),
    },
    {
      name: 'completion',
      summary: 'print the completion of bash, zsh or fish',
      load: async () => (await import('./help/help-commands.js')).completionCommand(COMMANDS),
    },
    {
      name: 'troubleshooting',
      summary: 'common problems of a Gatherer, their causes and remedies',
      load: async () => (await import('./help/troubleshooting.js')).troubleshootingCommand(),
    },
  ],
};

/** Every command. */
export const COMMANDS: readonly CommandEntry[] = (Object.keys(GROUPS) as (keyof typeof GROUPS)[]).flatMap(
  (group) => GROUPED[group].map((entry) => ({ ...entry, group })),
);

/** Words that readers may try, and the command that does what they expect. */
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
  const originals = COMMANDS.flatMap(({ originals = [] }) => originals);
  const words = [...COMMANDS.map(({ name }) => name), ...originals, ...Object.keys(SYNONYMS)];
  const distances = words.map((each) => editDistance(lower, each.toLowerCase()));
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

/**
 * The number of letters to insert, remove, replace or exchange with their neighbor (Damerau's distance, optimal
 * alignment).
 */
function editDistance(a: string, b: string): number {
  const rows = Array.from({ length: a.length + 1 }, (_, i) => [i, ...new Array<number>(b.length).fill(0)]);
  const at = (i: number, j: number): number => (i < 0 ? j : j < 0 ? i : (rows[i]?.[j] ?? 0));
  for (let j = 0; j <= b.length; j++) (rows[0] as number[])[j] = j;
  for (let i = 1; i <= a.length; i++) {
    for (let j = 1; j <= b.length; j++) {
      const replaced = at(i - 1, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1);
      let distance = Math.min(at(i - 1, j) + 1, at(i, j - 1) + 1, replaced);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        distance = Math.min(distance, at(i - 2, j - 2) + 1);
      (rows[i] as number[])[j] = distance;
    }
  }
  return at(a.length, b.length);
}

/** Returns the command with this name or original name; undefined if there is no such command. */
export function findCommand(name: string): CommandEntry | undefined {
  return COMMANDS.find((entry) => entry.name === name || entry.originals?.includes(name));
}
