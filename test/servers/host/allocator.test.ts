// The environment of servers that other programs start.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import {
  type StartedProcess,
  serverEnvironment,
  serveWithAllocator,
} from '../../../servers/host/allocator.js';
import { startDetached } from '../../../servers/host/index.js';

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
