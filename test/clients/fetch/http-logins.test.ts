// G-82: a login is sent below its own URLs only, whatever realm a server names.
import t from 'tap';
import { HttpLogins } from '../../../clients/fetch/http-logins.js';

const CLUB = { urls: ['http://h.test/club'], realm: 'members', user: 'anna', password: 'a' };
const STAFF = { urls: ['http://h.test/club/staff/'], realm: 'staff', user: 'bob', password: 'b' };

t.test('G-82: the path of a login is a directory, and only documents below it get the login', async (t) => {
  const logins = new HttpLogins([CLUB, STAFF]);
  for (const url of [
    'http://h.test/club',
    'http://h.test/club/',
    'http://h.test/club/a/b.html?x=../..',
    'http://h.test/club/a..b/...',
    // The default ports of a host have one owner.
    'https://h.test/club/a',
  ])
    t.equal(logins.forRealm(url, 'members'), CLUB, url);
  for (const url of [
    'http://h.test/',
    'http://h.test/clubhouse',
    'http://h.test/CLUB/a',
    'http://h.test/x/club/a',
    // Servers decode these before or after they look at the path.
    'http://h.test/club/%2e%2e/private',
    'http://h.test/club/%252E%252e/private',
    'http://h.test/club/..%2fprivate',
    'http://h.test/club/..%5cprivate',
    'http://h.test/club/..;x/private',
    'http://h.test:8080/club/a',
    'https://h.test:8443/club/a',
    'http://other.test/club/a',
    'http://www.h.test/club/a',
  ])
    t.equal(logins.forRealm(url, 'members'), 'elsewhere', url);
  t.equal(
    logins.forRealm('http://h.test/club/a', 'staff'),
    'elsewhere',
    'another login names this directory',
  );
  t.equal(logins.forRealm('http://h.test/club/staff/a', 'staff'), STAFF);
  t.equal(logins.forRealm('http://h.test/club/a', 'unknown realm'), 'unknown');
  t.equal(logins.forRealm('http://h.test/club/a', undefined), 'unknown');
});

t.test('an accepted login is sent unasked to its directory and below, within its own URLs', async (t) => {
  const logins = new HttpLogins([CLUB, STAFF]);
  t.equal(logins.known('http://h.test/club/a/1'), undefined, 'not before a server has accepted it');
  logins.accept('http://h.test/club/a/1', CLUB);
  t.equal(logins.known('http://h.test/club/a/2'), CLUB);
  t.equal(logins.known('http://h.test/club/a/b/3'), CLUB);
  for (const url of [
    'http://h.test/club/b/1',
    'http://h.test/club/ab',
    'https://h.test/club/a/2',
    'http://h.test/',
  ])
    t.equal(logins.known(url), undefined, url);
  // The directory of a document at the top is wider than the login's path.
  logins.accept('http://h.test/club', CLUB);
  t.equal(logins.known('http://h.test/club/b/1'), CLUB);
  t.equal(logins.known('http://h.test/other'), undefined, 'its own path is the limit');
  logins.accept('http://h.test/club/staff/1', STAFF);
  t.equal(logins.known('http://h.test/club/staff/2'), STAFF, 'the one that was accepted last');
});
