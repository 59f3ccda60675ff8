// The stores of the Gatherer and the Broker with files that are missing, cut or flipped.
import { testDamage } from './damage.js';

testDamage('gatherer');
testDamage('broker');
