// Published references with files that are missing, cut, flipped or something else.
import { testDamage } from './damage.js';

testDamage('references', { flips: 30 });
