// One process for summarizing: starting one for each file takes longer than its tests.
import '../essence/charset.test.js';
import '../essence/external-programs.test.js';
import '../essence/html-reader.test.js';
import '../essence/html.test.js';
import '../essence/magic-file.test.js';
import '../essence/office.test.js';
import '../essence/recognize.test.js';
import '../essence/rules.test.js';
import '../essence/sgml.test.js';
import '../essence/summarizers-and-pool.test.js';
import '../essence/summarizers-formats.test.js';
import '../essence/summarizers-typeset.test.js';
import '../essence/texinfo.test.js';
import '../essence/types.test.js';
import '../essence/unread-archives.test.js';
import '../essence/unnest.test.js';
