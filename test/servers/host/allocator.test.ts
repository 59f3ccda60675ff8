// The environment of servers that other programs start.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { serverEnvironment } from '../../../servers/host/allocator.js';
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
