// Published summaries with files that are missing, cut, flipped or something else.
import { testDamage } from './damage.js';

testDamage('generations', { flips: 60 });
