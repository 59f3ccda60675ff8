// The index of a Broker with files that are missing, cut, flipped or something else.
import { testDamage } from './damage.js';

testDamage('index', { flips: 8, madeAgain: true });
