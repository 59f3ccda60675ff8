// The names of users by their numbers.
import { userInfo } from 'node:os';
import t from 'tap';
import { parseUserNames, userName } from '../../../servers/host/user-names.js';

t.test('E-76 the owner of a file has a name, or his number', async (t) => {
  const names = parseUserNames('root:x:0:0::/:/bin/sh\nbad\n:x:5:\nada:x:7:7\nalias:x:7:7\n#c:x:y\n');
  t.same(
    [...names],
    [
      [0, 'root'],
      [7, 'ada'],
    ],
  );
  if (process.getuid === undefined) return;
  t.equal(await userName(process.getuid()), userInfo().username);
  t.equal(await userName(4_000_000_001), '4000000001');
});
