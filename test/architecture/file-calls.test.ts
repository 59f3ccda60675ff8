// How the sources use files: nothing that serves waits for a disk on its event loop, and a full disk keeps its
// name.
import t from 'tap';
import { sourcesOf, textOf } from './sources.js';

/**
 * Synchronous file calls, by file, each with its reason. Command line tools and worker threads may wait; so may
 * a program before it serves.
 */
const ALLOWED: Readonly<Record<string, string>> = {
  'storage/records/records.ts': 'when the module is loaded',
  'storage/files/make-directory.ts': 'createDirectorySync, before the start',
  'storage/files/holder.ts': 'after an opening that failed',
  'storage/files/open-descriptors.ts': 'files of /proc, which are in memory, after an opening that failed',
  'storage/files/open-failure.ts': 'after an opening that failed, in the threads of the index and in tools',
  'storage/files/regular-file.ts': 'the first bytes of a file, for storage/generations/directory.ts',
  'storage/generations/directory.ts': 'a few bytes in the page cache, for every transfer (GATHERD-10.5)',
  'storage/references/files.ts': 'in the thread of a publication; a reader takes blocks from the page cache',
  'storage/references/link-builder.ts': 'in the thread of a publication',
  'storage/references/record-sorter.ts': 'in the thread of a publication',
  'storage/indexers/embedded/index/index-file.ts': 'in the threads of the index',
  'storage/databases/database-file.ts': 'in tools',
  'storage/databases/file-layout.ts': 'in tools',
  'storage/databases/change.ts': 'in tools',
  'servers/essence/pool/reader.ts': 'in a process of its own',
  'servers/essence/time-budget.ts': 'files of /proc, which are in memory',
  'servers/broker/admin/event-log.ts': 'at the start and for a command of the administrator',
  'servers/host/detach.ts': 'before the daemon starts',
  'servers/host/port-holder.ts': 'files of /proc, which are in memory, when a server cannot listen',
  'servers/host/descriptor-reserve.ts': 'opens and closes the null device, which is in memory',
  'servers/host/farewells.ts': 'what has arrived of a connection that is closed at once, from memory',
  'servers/host/fd-limit.ts': 'a file of /proc, which is in memory, at most once a second',
  'servers/host/line-writer.ts': 'the last lines before the end of the process',
  'servers/host/log-file.ts': 'at the start and when the log is opened again',
  'servers/host/password-file.ts':
    'before the start, and when the administrator has the configuration read again',
  'servers/host/standard-connection.ts': 'before the session of inetd',
  'servers/host/standard-descriptors.ts': 'before the session of inetd',
  'servers/all-in-one/roots.ts': 'before the start',
  'servers/all-in-one/all-in-one.ts': 'before the start',
  'servers/refererd/process.ts': 'before the start, and the last lines before the end',
  'servers/refererd/supervisor.ts': 'before the start',
  'servers/gatherer/configuration/essence-options.ts': 'before the start',
  'servers/gatherer/configuration/short-lives.ts': 'the rules of a configuration, at the start of a run',
  'servers/essence/external/find.ts': 'before the start',
  'servers/gatherer/enumerate/programs.ts': 'before a program starts',
};
const CALL =
  /\b(?:open|close|read|write|stat|lstat|fstat|statfs|exists|access|rm|unlink|rename|mkdir|readdir|readFile|writeFile|appendFile|copyFile|realpath|fsync|ftruncate|chown)Sync\(/;

t.test('the memory of the process is read where a missing descriptor does not end the program', async (t) => {
  const readers = ['storage', 'servers', 'clients'].flatMap((root) =>
    sourcesOf(root).filter((path) => /\bmemoryUsage\b/.test(textOf(path))),
  );
  t.same(readers, ['storage/files/resident-memory.ts']);
});

t.test('nothing that serves makes synchronous file calls', async (t) => {
  for (const root of ['storage', 'servers', 'clients']) {
    for (const path of sourcesOf(root)) {
      if (path.startsWith('servers/cli/') || path.startsWith('clients/conformance/')) continue;
      if (CALL.test(textOf(path)) !== path in ALLOWED)
        t.fail(path in ALLOWED ? `${path} has none now` : `${path} calls ${CALL.exec(textOf(path))?.[0]}`);
    }
  }
  t.ok(Object.keys(ALLOWED).length > 0);
});

t.test('directories are created by functions that name a full disk', async (t) => {
  for (const root of ['storage', 'clients', 'servers']) {
    for (const path of sourcesOf(root)) {
      if (/[^a-zA-Z]mkdir(?:Sync)?\([^;]*recursive: true/.test(textOf(path)))
        t.fail(`${path}: createDirectory or makeDirectory of storage/files instead of a recursive mkdir`);
    }
  }
  t.ok(sourcesOf('storage').length > 0);
});
