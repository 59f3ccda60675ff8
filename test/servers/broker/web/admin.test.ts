// The Broker's administration page, its statistics, and the contrast of its colors.
import { readFile } from 'node:fs/promises';
import t from 'tap';
import { ADMIN_COMMANDS } from '../../../../protocols/broker/index.js';
import { COMMAND_GROUPS } from '../../../../servers/broker/web/admin-commands.js';
import { renderAdminForm } from '../../../../servers/broker/web/admin-routes.js';
import { countAges } from '../../../../servers/broker/web/ages.js';
import { NOW } from '../helpers.js';
import { openWebsite, QUERY } from './helpers.js';

const ADMIN = '/Harvest/cgi-bin/BrokerAdmin.cgi';
const PASSWORD = 'open sesame';

type Site = Awaited<ReturnType<typeof openWebsite>>;

/** Opens the administration page; returns it with its cookie and its form token. */
async function openAdminPage({ get }: Site) {
  const page = await get('/admin.html');
  const cookie = String(page.headers['set-cookie']).split(';')[0] ?? '';
  return { page, cookie, token: page.$('input[name=token]').attr('value') ?? '' };
}

t.test('BRK-9.10: the administration page sends commands', async (t) => {
  const site = await openWebsite(t);
  const { page, cookie, token } = await openAdminPage(site);
  const labels = ['Command', 'Parameters', 'Password', 'Broker Host', 'Broker Port'];
  t.same(page.texts('form.admin label'), labels);
  t.equal(page.$('form.admin').attr('method'), 'post');
  t.match(String(page.headers['set-cookie']), /; HttpOnly; SameSite=Strict$/);
  t.equal(page.headers['cache-control'], 'no-store');
  t.same(
    page.texts('#command option').sort(),
    ADMIN_COMMANDS.map(({ title }) => title).sort(),
    'BRK-5.1: every command is offered by its title',
  );
  t.equal(COMMAND_GROUPS.flatMap(({ commands }) => commands).length, ADMIN_COMMANDS.length);
  const statistics = await site.post(ADMIN, { command: 'do-stats', password: PASSWORD, token }, { cookie });
  t.equal(statistics.status, 200);
  t.match(statistics.$('.outcome').text(), /Objects: 3/);
  t.notMatch(statistics.body, PASSWORD);
  const removed = await site.post(
    ADMIN,
    { command: 'rem-object-query', parameters: 'title : Mosaic', password: PASSWORD, token },
    { cookie },
  );
  t.equal(removed.status, 200);
  t.equal((await site.get(`${QUERY}?query=Mosaic`)).$('.results > li').length, 0);
  for (const [command, parameters, status] of [
    ['rem-object-query', 'a and (', 400],
    ['do-stats', 'x', 400],
    ['nonsense', '', 400],
  ] as const) {
    const reply = await site.post(ADMIN, { command, parameters, password: PASSWORD, token }, { cookie });
    t.equal(reply.status, status, `${command} ${parameters}`);
    t.equal(reply.$('[role=alert]').length, 1);
  }
  t.equal((await site.get('/Harvest/brokers/example/adminhelp.html')).$('dt').length, ADMIN_COMMANDS.length);
});

t.test('BRK-5.2: the page runs no command for other sites or without the password', async (t) => {
  const site = await openWebsite(t);
  const { cookie, token } = await openAdminPage(site);
  const fields = { command: 'clean-broker', password: PASSWORD, token };
  for (const [name, sent, headers] of [
    ['no cookie', fields, {}],
    ['a foreign cookie', fields, { cookie: `harvest-admin=${'x'.repeat(24)}` }],
    ['no token', { ...fields, token: '' }, { cookie }],
    ['another site', fields, { cookie, 'sec-fetch-site': 'cross-site' }],
    ['another host of the same site', fields, { cookie, 'sec-fetch-site': 'same-site' }],
    ['another origin', fields, { cookie, origin: 'http://evil.example' }],
    ['no origin', fields, { cookie, origin: 'null' }],
  ] as const) {
    const reply = await site.post(ADMIN, sent, headers);
    t.equal(reply.status, 403, name);
    t.match(reply.$('[role=alert]').text(), /^Not sent/);
  }
  const foreign = await site.post(ADMIN, { ...fields, host: 'evil.example' }, { cookie });
  t.match(foreign.$('[role=alert]').text(), /its own broker only/);
  const query = new URLSearchParams(fields).toString();
  t.equal((await site.get(`${ADMIN}?${query}`, { cookie })).$('.outcome').length, 0, 'a GET runs no command');

  const sameOrigin = {
    cookie,
    origin: 'http://localhost:80',
    host: 'localhost:80',
    'sec-fetch-site': 'same-origin',
  };
  t.equal(
    (await site.post(ADMIN, { ...fields, command: 'do-stats' }, sameOrigin)).status,
    200,
    'the same origin with its default port is accepted',
  );
  t.equal(
    (await site.post(ADMIN, { ...fields, command: 'do-stats' }, { ...sameOrigin, host: 'localhost' })).status,
    200,
  );
  for (let i = 0; i < 10; i++) {
    const wrong = await site.post(ADMIN, { ...fields, password: `no ${i}` }, { cookie });
    t.equal(wrong.status, 403);
    t.match(wrong.$('.outcome .error').text(), /Invalid password/);
  }
  t.equal((await site.post(ADMIN, fields, { cookie })).status, 429, 'after many guesses it must wait');

  const form = { command: '', parameters: '', token: '', action: '', help: '', host: '', port: 1 };
  t.match(renderAdminForm({ ...form, enabled: false }).text, /every command is refused/);
  t.notMatch(renderAdminForm({ ...form, enabled: true }).text, /every command is refused/);
});

t.test('BRK-9.12: statistics are charts and tables without a script', async (t) => {
  const { get, broker } = await openWebsite(t);
  const { $ } = await get('/stats.html');
  t.equal($('table').length, 4, 'there are tables of types, hosts, Gatherers and the timetable');
  t.equal($('td.bar svg rect.fill').length, 5);
  t.equal($('[style], script:not([src])').length, 0);
  t.match($('svg[role=img]').attr('aria-label'), /^up to a day: 3, /);
  t.equal($('#timetable').length, 1);
  const html = $('th a').filter((_, a) => $(a).text() === 'HTML');
  t.equal((await get(html.attr('href') ?? '')).$('h1').text(), '2 objects found');
  const gatherer = $('th a').filter((_, a) => $(a).text().startsWith('Example Gatherer'));
  t.equal((await get(gatherer.attr('href') ?? '')).$('h1').text(), '3 objects found');
  const later = await countAges(broker.store, NOW + 20 * 86_400);
  t.same(
    later.filter(({ objects }) => objects > 0),
    [{ title: 'a month', objects: 3 }],
  );
  t.match((await get('/')).$('.chips').text(), /HTML 2/, 'the search page offers the types in the broker');
});

/** Returns the relative luminance of WCAG 2. */
function luminance(hex: string): number {
  const [r = 0, g = 0, b = 0] = [1, 3, 5].map((i) => {
    const c = Number.parseInt(hex.slice(i, i + 2), 16) / 255;
    return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

/** Returns the contrast ratio of WCAG 2. */
function contrast(a: string, b: string): number {
  const [light = 0, dark = 0] = [luminance(a), luminance(b)].sort((x, y) => y - x);
  return (light + 0.05) / (dark + 0.05);
}

t.test('colors have the contrast of WCAG AA in both color schemes', async (t) => {
  t.equal(Math.round(contrast('#ffffff', '#000000') * 10), 210);
  const css = await readFile(new URL(import.meta.resolve('#web-assets/style.css')), 'utf8');
  const schemes = [...css.matchAll(/:root \{([^}]*)\}/g)].map(
    ([, body = '']) => new Map([...body.matchAll(/--([\w-]+): (#[0-9a-f]{6});/g)].map((m) => [m[1], m[2]])),
  );
  t.equal(schemes.length, 2);
  const textPairs = [
    ...['paper', 'panel', 'raised', 'soft', 'mark'].map((background) => ['text', background] as const),
    ...['paper', 'panel', 'raised', 'soft'].map((background) => ['quiet', background] as const),
    ...['link', 'visited'].flatMap((color) =>
      ['paper', 'panel', 'mark'].map((background) => [color, background] as const),
    ),
    ['accent', 'paper'],
    ['on-accent', 'accent'],
    ['error', 'error-paper'],
  ] as const;
  const controlPairs = [
    ['field', 'paper'],
    ['field', 'raised'],
    ['accent', 'paper'],
    ['bar', 'paper'],
    ['error', 'raised'],
  ] as const;
  for (const [i, colors] of schemes.entries()) {
    const ratio = (a: string, b: string) => contrast(colors.get(a) ?? '', colors.get(b) ?? '');
    const scheme = i === 0 ? 'light' : 'dark';
    for (const [a, b] of textPairs)
      t.ok(ratio(a, b) >= 4.5, `${scheme} ${a} on ${b}: ${ratio(a, b).toFixed(2)}`);
    for (const [a, b] of controlPairs)
      t.ok(ratio(a, b) >= 3, `${scheme} ${a} on ${b}: ${ratio(a, b).toFixed(2)}`);
  }
});
