// The user base: scrypt hashes of passwords, one user per line. Rule: R-37.
import t from 'tap';
import { UserBase, userLine, withUser } from '../../../servers/refererd/index.js';

t.test('R-37: passwords are checked against scrypt hashes; users are added and removed', async (t) => {
  // scrypt of RFC 7914, section 12: P "pleaseletmein", S "SodiumChloride", N 16384, r 8, p 1, 64 octets.
  const hash =
    '7023bdcb3afd7348461c06cd81fd38ebfda8fbba904f8e3ea9b543f6545da1f2d5432955613f0fcf62d49705242a9af9e61e85dc0d651e40dfcf017b45575887';
  const line = `rfc:$scrypt$16384,8,1$${btoa('SodiumChloride')}$${Buffer.from(hash, 'hex').toString('base64')}`;
  const base = UserBase.parse(
    `# users\n${line}\nold:$crypt$x$y\nbig:$scrypt$1073741824,8,1$QQ==$QUFBQUFBQUFBQUFBQUFBQQ==\n`,
  );
  t.same(base.names, ['rfc', 'old', 'big']);
  t.equal(await base.check('rfc', 'pleaseletmein'), 'right');
  t.equal(await base.check('rfc', 'pleaseletmeout'), 'wrong');
  t.equal(await base.check('old', ''), 'wrong', 'an unknown scheme disables the user');
  t.equal(await base.check('big', ''), 'wrong', 'a hash whose cost is above the limit is refused');
  t.equal(await base.check('unknown', 'pleaseletmein'), 'wrong', 'an unknown user is refused');
  const added = withUser(`# kept\n${line}\n`, 'anna', await userLine('anna', 'sésame:#'));
  t.match(added, /^# kept\nrfc:.*\nanna:\$scrypt\$16384,8,1\$/);
  t.equal(await UserBase.parse(added).check('anna', 'sésame:#'), 'right');
  t.equal(withUser(added, 'anna', undefined), `# kept\n${line}\n`);
  await t.rejects(userLine('a:b', 'x'), { code: 'ERR_USAGE' });
  // A check of a known user costs what its line says.
  const cheap = UserBase.parse('cheap:$scrypt$2,1,1$QQ==$QUFBQUFBQUFBQUFBQUFBQQ==\n');
  const many = await Promise.all(Array.from({ length: 66 }, () => cheap.check('cheap', 'y')));
  t.equal(many.filter((answer) => answer === 'busy').length, 2, 'a check beyond 64 pending ones is refused');
});
