// The clock of a Broker whose system sets its clock while the program runs.
import t from 'tap';
import { PassedClock, SetBackWatch } from '../../../../servers/broker/admin/clock-watch.js';
import { NOW } from '../helpers.js';

const HOUR = 3600;
const DAY = 24 * HOUR;
const YEAR = 365 * DAY;

t.test('a clock that is set by more than a day is not believed until a Gatherer says the same', (t) => {
  for (const jump of [HOUR, YEAR, 14 * YEAR].flatMap((seconds) => [seconds, -seconds]).concat(-NOW)) {
    let passed = 0;
    let wrong = 0;
    const reports: string[] = [];
    const system = (): number => NOW + passed + wrong;
    const clock = new PassedClock(
      (sentence) => reports.push(sentence),
      system,
      () => passed * 1000,
    );
    t.equal(clock.read(), NOW);
    passed += HOUR;
    wrong = jump;
    const isSmall = Math.abs(jump) <= DAY;
    t.equal(clock.read(), NOW + passed + (isSmall ? jump : 0), `${jump} s`);
    passed += 40 * DAY;
    t.equal(clock.read(), NOW + passed + (isSmall ? jump : 0), 'the time goes on');
    t.equal(reports.length, isSmall ? 0 : 1, 'one report');
    clock.witness(NOW + passed - DAY / 2);
    t.equal(clock.read(), NOW + passed + (isSmall ? jump : 0), 'a Gatherer with the other time');
    clock.witness(NOW + passed + jump - DAY / 2);
    t.equal(clock.read(), NOW + passed + jump, 'a Gatherer with the time of the system');
    wrong = 0;
    clock.read();
    clock.witness(NOW + passed);
    t.equal(clock.read(), NOW + passed, 'and back');
  }
  t.end();
});

t.test('a clock that was set back between two collections', (t) => {
  let passedMs = 0;
  const watch = new SetBackWatch(() => passedMs);
  t.equal(watch.lastRightTime(NOW), undefined);
  passedMs += 1000 * HOUR;
  t.equal(watch.lastRightTime(NOW + 2 * HOUR), undefined, 'it was set ahead');
  passedMs += 2000 * HOUR;
  t.equal(watch.lastRightTime(NOW + 3 * HOUR), NOW + HOUR, 'it was set back, before that time');
  passedMs += 1000 * HOUR;
  t.equal(watch.lastRightTime(NOW + 4 * HOUR - 5), undefined, 'it was kept');
  t.end();
});
