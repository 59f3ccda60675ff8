// Scope rules: sequences, each rule of the catalog, and seed lists.
import fc from 'fast-check';
import t from 'tap';
import { decideSequence } from '../../../servers/crawler/decide/build-rules.js';
import { DecideSequence, type DecideSubject, decideRule } from '../../../servers/crawler/decide/decision.js';
import { defaultRules, type RuleInput } from '../../../servers/crawler/decide/rule-config.js';
import { parseSeeds } from '../../../servers/crawler/decide/seed-list.js';
import { assertProperty } from '../../helpers/property.js';

const SEEDS = ['http://www.example.com/dir/index.html', 'http://other.org/'];

function subject(uri: string, hops = 'L', fields: Partial<DecideSubject> = {}): DecideSubject {
  return { uri, hops, via: 'http://www.example.com/dir/', ...fields };
}

/** Tells whether a rule alone decides about a URI. */
function applies(rule: RuleInput, target: DecideSubject): boolean {
  return decideSequence([rule], { seeds: SEEDS }).decide(target) !== 'NONE';
}

t.test('CRAWL-10.2.1 the last answer other than NONE decides; useless rules are skipped', async (t) => {
  let evaluations = 0;
  const counted = decideRule('counted', 'ACCEPT', () => ++evaluations > 0);
  const no = decideRule('no', 'REJECT', () => true);
  const never = decideRule('never', 'REJECT', () => false);
  t.equal(new DecideSequence([]).decide(subject('x')), 'NONE');
  t.notOk(new DecideSequence([]).accepts(subject('x')), 'a scope accepts only ACCEPT');
  t.notOk(new DecideSequence([]).rejects(subject('x')), 'a processor runs unless the answer is REJECT');
  const sequence = new DecideSequence([no, counted, counted, never]);
  t.same(sequence.explain(subject('x')), { decision: 'ACCEPT', ruleNumber: 2, rule: 'counted' });
  t.equal(evaluations, 1);
});

t.test('CRAWL-10.2.2 the default sequence decides by the expected rule', async (t) => {
  const sequence = decideSequence(
    defaultRules('default', { surts: ['http://www.example.com/dir/no/'], patterns: ['.*\\.exe'] }),
    { seeds: SEEDS },
  );
  const rows: readonly (readonly [uri: string, hops: string, decision: string, rule: string])[] = [
    ['http://www.example.com/dir/a', 'L', 'ACCEPT', 'surt-prefixed'],
    ['https://www.example.com/dir/a', 'L', 'ACCEPT', 'surt-prefixed'],
    ['http://www.example.com/else', 'L', 'REJECT', 'all'],
    ['http://www.example.com/dir/a', 'L'.repeat(21), 'REJECT', 'too-many-hops'],
    ['http://cdn.example/x.png', 'LE', 'ACCEPT', 'transclusion'],
    ['http://cdn.example/x.png', 'LEEE', 'ACCEPT', 'transclusion'],
    ['http://cdn.example/x.png', 'LEEEE', 'REJECT', 'all'],
    ['http://cdn.example/x.png', 'LXX', 'REJECT', 'all'],
    ['http://cdn.example/x.png', 'LRRRRRR', 'ACCEPT', 'transclusion'],
    ['http://www.example.com/dir/no/x', 'L', 'REJECT', 'surt-prefixed'],
    ['http://www.example.com/dir/x.exe', 'L', 'REJECT', 'matches'],
    ['http://www.example.com/dir/a/a/a/x', 'L', 'REJECT', 'pathological-path'],
    [
      `http://www.example.com/dir/${'1/2/3/4/5/6/7/8/9/10/'.repeat(2)}`,
      'L',
      'REJECT',
      'too-many-path-segments',
    ],
    ['dns:cdn.example', 'LP', 'ACCEPT', 'transclusion'],
    ['dns:cdn.example', 'LEEEP', 'ACCEPT', 'prerequisite'],
    ['gopher://cdn.example/', 'LEEEP', 'REJECT', 'scheme-not-in'],
  ];
  for (const [uri, hops, decision, rule] of rows) {
    const why = sequence.explain(subject(uri, hops));
    t.same([why.decision, why.rule], [decision, rule], `${uri} ${hops}`);
  }
  const third = decideSequence(defaultRules('3.x'), { seeds: SEEDS });
  t.notOk(third.accepts(subject('http://cdn.example/x.png', 'LEEE')), '3.x accepts two transclusion hops');
  t.equal(decideSequence(defaultRules('1.x'), { seeds: SEEDS }).rules.length, 7);
});

t.test('CRAWL-10.2.2, 7 pathological paths are those of a back-reference', async (t) => {
  const rule: RuleInput = { rule: 'pathological-path' };
  t.ok(applies(rule, subject('http://h/a/b/a/b/a/b/c')));
  t.notOk(applies(rule, subject('http://h/a/b/a/b/c')));
  t.notOk(applies(rule, subject('http://h/a/a/a')), 'the last segment has no slash after it');
  const path = fc.array(fc.constantFrom('a', 'b', '/'), { maxLength: 18 }).map((parts) => parts.join(''));
  assertProperty(
    fc.property(path, fc.integer({ min: 1, max: 3 }), (text, max) => {
      const uri = `http://h/${text}`;
      const expected = new RegExp(`^.*?/(.*?/)\\1{${max},}.*$`).test(uri);
      if (applies({ rule: 'pathological-path', maxRepetitions: max }, subject(uri)) !== expected)
        throw new Error(uri);
    }),
    { numRuns: 2000 },
  );
});

t.test('CRAWL-10.2.4 every rule of the catalog applies to one URI and not to another', async (t) => {
  const answer = 'REJECT' as const;
  const patterns = ['a.*'];
  const rows: readonly (readonly [RuleInput, DecideSubject, DecideSubject])[] = [
    [{ rule: 'seed' }, subject('http://x/', '', { seed: true }), subject('http://x/')],
    [{ rule: 'on-hosts' }, subject('http://www.example.com/x'), subject('http://example.com/x')],
    [{ rule: 'not-on-hosts' }, subject('http://a.www.example.com/'), subject('http://www.example.com/x')],
    [{ rule: 'on-domains' }, subject('http://a.example.com/x'), subject('http://example.org/x')],
    [{ rule: 'not-on-domains' }, subject('http://example.org/'), subject('http://a.example.com/')],
    [{ rule: 'not-surt-prefixed' }, subject('http://x/'), subject('http://other.org/y')],
    [
      { rule: 'surt-prefixed', seeds: false, lines: ['http://(com,b,'] },
      subject('http://a.b.com/'),
      subject('http://other.org/'),
    ],
    [
      { rule: 'scope-plus-one', on: 'hosts' },
      subject('http://x/'),
      subject('http://x/', 'L', { via: 'http://a.other.org/' }),
    ],
    [{ rule: 'too-many-link-hops', max: 1 }, subject('http://x/', 'LLE'), subject('http://x/', 'LE')],
    [{ rule: 'matches', answer, patterns: ['.*x.*', '.*y.*'] }, subject('http://x/'), subject('http://z/')],
    [
      { rule: 'matches', answer, patterns: ['.*x.*', '.*y.*'], logic: 'AND' },
      subject('http://x/y'),
      subject('http://x/'),
    ],
    [{ rule: 'matches', answer, patterns: ['x'] }, subject('x'), subject('xx')],
    [{ rule: 'not-matches', answer, patterns: ['.*x'] }, subject('http://z'), subject('http://x')],
    [{ rule: 'file-pattern' }, subject('http://x/a.JPG'), subject('http://x/a.html')],
    [{ rule: 'file-pattern', preset: 'audio' }, subject('http://x/a.wav'), subject('http://x/a.gif')],
    [{ rule: 'has-via', answer }, subject('http://x/'), { uri: 'http://x/', hops: '' }],
    [{ rule: 'via-matches', answer, patterns: ['.*/dir/'] }, subject('http://x/'), { uri: 'x', hops: '' }],
    [{ rule: 'hops-match', answer, patterns: ['L*E'] }, subject('x', 'LLE'), subject('x', 'LL')],
    [
      { rule: 'class-key-matches', answer, patterns },
      subject('x', 'L', { classKey: 'ab' }),
      subject('x', 'L', { classKey: 'b' }),
    ],
    [{ rule: 'source-tag-matches', answer, patterns }, subject('x', 'L', { sourceTag: 'a' }), subject('x')],
    [{ rule: 'status-in', answer, statuses: [404] }, subject('x', 'L', { status: 404 }), subject('x')],
    [{ rule: 'status-not-in', answer, statuses: [404] }, subject('x', 'L', { status: 200 }), subject('x')],
    [
      { rule: 'status-matches', answer, patterns: ['5..'] },
      subject('x', 'L', { status: 503 }),
      subject('x', 'L', { status: 200 }),
    ],
    [
      { rule: 'content-type-matches', answer, patterns: ['text/.*'] },
      subject('x', 'L', { contentType: 'text/html; charset=utf-8' }),
      subject('x', 'L', { contentType: 'image/png' }),
    ],
    [{ rule: 'response-matches', answer, patterns }, subject('x', 'L', { response: 'a\nb' }), subject('x')],
    [
      { rule: 'content-length-above', bytes: 10 },
      subject('x', 'L', { contentLength: 11 }),
      subject('x', 'L', { contentLength: 10 }),
    ],
    [
      { rule: 'content-length-at-most', bytes: 10 },
      subject('x', 'L', { contentLength: 10 }),
      subject('x', 'L', { contentLength: 11 }),
    ],
    [{ rule: 'location-in', answer, locations: ['FI'] }, subject('x', 'L', { location: 'FI' }), subject('x')],
    [{ rule: 'address-in', answer, addresses: ['::1'] }, subject('x', 'L', { address: '::1' }), subject('x')],
    [
      { rule: 'redirect-from-root' },
      subject('http://www.a/', 'LR', { via: 'http://a/' }),
      subject('http://www.a/', 'LR', { via: 'http://a/b' }),
    ],
    [{ rule: 'identical-digest' }, subject('x', 'L', { identicalDigest: true }), subject('x')],
    [{ rule: 'queue-over-budget' }, subject('x', 'L', { queueOverBudget: true }), subject('x')],
    [
      { rule: 'classic-focus', on: 'paths' },
      subject('http://www.example.com/director'),
      subject('http://x.org/'),
    ],
    [{ rule: 'classic-transitive', maxTransHops: 1 }, subject('x', 'LE'), subject('x', 'LEE')],
  ];
  for (const [rule, yes, no] of rows) {
    t.ok(applies(rule, yes), `${rule.rule} applies to ${yes.uri}`);
    t.notOk(applies(rule, no), `${rule.rule} does not apply to ${no.uri}`);
  }
});

t.test('an error in the configuration names the rule and the field', async (t) => {
  const build = (rules: unknown) => () => decideSequence(rules, { seeds: [] });
  t.throws(build([{ rule: 'all', answer: 'REJECT' }, { rule: 'nothing' }]), { message: /^rule 2: / });
  t.throws(build([{ rule: 'all' }]), { code: 'ERR_USAGE', message: /^rule 1: answer: / });
  t.throws(build([{ rule: 'matches', answer: 'REJECT', patterns: ['('] }]), { code: 'ERR_USAGE' });
  t.throws(build('all'), { message: /^the rules: / });
});

t.test('CRAWL-10.1.5 a seed list has comments, seeds and SURT directives', async (t) => {
  const text =
    '# list\nexample.com\r\nhttp://a.b/c#d # comment\n+http://(org,\n- bad.org/x\nlocalhost:81/\nhttp://\n\nexample.com';
  t.same(parseSeeds(text), {
    seeds: ['http://example.com/', 'http://a.b/c', 'http://localhost:81/'],
    acceptSurts: ['http://(org,'],
    rejectSurts: ['bad.org/x'],
    ignored: [{ line: 'http://', lineNumber: 7 }],
  });
});
