// The tests of the area that take seconds each; those of `essence` run in every `npm test`.
import '../servers/essence/external-programs.test.js';
import '../servers/essence/rules.test.js';
import '../servers/essence/time-limits.test.js';
import '../servers/essence/unnest.test.js';
import '../servers/essence/pool.test.js';
import '../servers/essence/own-modules.test.js';
import '../servers/essence/markup.test.js';
import '../servers/essence/long-links.test.js';
