// One process for the runner of the tests.
import '../run/changes.test.js';
import '../run/plan.test.js';
import '../run/run.test.js';
