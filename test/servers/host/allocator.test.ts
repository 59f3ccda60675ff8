// The environment of servers that other programs start.
import { execFileSync } from 'node:child_process';
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import {
  type StartedProcess,
  serverEnvironment,
  serveWithAllocator,
} from '../../../servers/host/allocator.js';
import { startDetached } from '../../../servers/host/index.js';
import { PROGRAM } from '../../helpers/cli.js';

t.test(
  'a server in the background has few arenas for its memory; the variables of the user go first',
  async (t) => {
    const directory = await mkdtemp(join(tmpdir(), 'allocator-'));
    t.teardown(() => rm(directory, { recursive: true }));
    const { match } = await startDetached({
      command: [process.execPath, '-p', '"arenas=" + process.env.MALLOC_ARENA_MAX'],
      logFile: join(directory, 'log'),
      ready: /arenas=(\d+)/,
    });
    t.equal(match[1], '2');
    t.match(serverEnvironment({ MALLOC_ARENA_MAX: '8', HOME: '/' }), { MALLOC_ARENA_MAX: '8', HOME: '/' });
  },
);

t.test(
  'a server that was started by hand starts again with the variables, where Node can do that',
  async (t) => {
    const started = (change: Partial<StartedProcess> = {}): unknown[] => {
      const calls: unknown[] = [];
      serveWithAllocator({
        argv: ['/bin/node', '/bin/harvest', 'run', 'http://127.0.0.1/'],
        env: { HOME: '/' },
        execArgv: ['--no-warnings'],
        execPath: '/bin/node',
        execve: (file, args, env) => calls.push({ file, args, env }),
        platform: 'linux',
        ...change,
      });
      return calls;
    };
    t.match(started(), [
      {
        file: '/bin/node',
        args: ['/bin/node', '--no-warnings', '/bin/harvest', 'run', 'http://127.0.0.1/'],
        env: { HOME: '/', MALLOC_ARENA_MAX: '2' },
      },
    ]);
    t.same(started({ env: { MALLOC_ARENA_MAX: '8' } }), [], 'the variables of the user stay');
    t.same(started({ channel: {} }), [], 'a child keeps its channel');
    t.same(started({ platform: 'darwin' }), []);
    t.doesNotThrow(() => started({ execve: undefined }), 'Node 20 has no execve');
  },
);

t.test('a shell that runs an installed program sets the variables for servers', async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'allocator-'));
  t.teardown(() => rm(directory, { recursive: true }));
  // In place of Node: prints what it was given.
  const node = '#!/bin/sh\necho "$MALLOC_ARENA_MAX $MALLOC_MMAP_THRESHOLD_ $# $*"\n';
  await writeFile(join(directory, 'node'), node, { mode: 0o755 });
  const run = (program: string, args: readonly string[], variables: NodeJS.ProcessEnv = {}): string => {
    const env = { PATH: `${directory}:${process.env.PATH}`, ...variables };
    return execFileSync('sh', [program, ...args], {
      encoding: 'utf8',
      env,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
  };
  t.equal(run(PROGRAM, ['run', "it's one"]), `2 16384 3 ${PROGRAM} run it's one\n`);
  t.equal(run(PROGRAM, ['broker'], { MALLOC_ARENA_MAX: '8' }), `8 16384 2 ${PROGRAM} broker\n`);
  t.equal(run(PROGRAM, ['gatherer', 'run']), `  3 ${PROGRAM} gatherer run\n`, 'no server');
  for (const [name, variables] of [
    ['gatherd', '2 16384'],
    ['refererd', '2 16384'],
    ['cksoif', ' '],
  ] as const) {
    const link = join(directory, name);
    await symlink(PROGRAM, link);
    t.equal(run(link, []), `${variables} 1 ${link}\n`);
  }
  // The line for the shell is a comment to Node, and the shell's exit status is Node's.
  const version = execFileSync('sh', [PROGRAM, '--version'], { encoding: 'utf8' });
  t.equal(version, execFileSync(process.execPath, [PROGRAM, '--version'], { encoding: 'utf8' }));
});
