// The Gatherer's disk cache and one-file databases with files that are missing, cut, flipped or something else.
import { testDamage } from './damage.js';

testDamage('cache', { flips: 30, madeAgain: true });
// libsql ends the process at a text that is not UTF-8.
testDamage('database', { flips: 60, says: /PRODUCTION\.gdbm/ });
