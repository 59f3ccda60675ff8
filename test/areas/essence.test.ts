// One process for summarizing: starting one for each file takes longer than its tests.
import '../servers/essence/charset.test.js';
import '../servers/essence/external-programs.test.js';
import '../servers/essence/html-reader.test.js';
import '../servers/essence/html.test.js';
import '../servers/essence/magic-file.test.js';
import '../servers/essence/office.test.js';
import '../servers/essence/pool.test.js';
import '../servers/essence/recognize.test.js';
import '../servers/essence/rules.test.js';
import '../servers/essence/sgml.test.js';
import '../servers/essence/summarizers-formats.test.js';
import '../servers/essence/summarizers-text.test.js';
import '../servers/essence/summarizers-typeset.test.js';
import '../servers/essence/texinfo.test.js';
import '../servers/essence/types.test.js';
import '../servers/essence/unread-archives.test.js';
import '../servers/essence/unnest.test.js';
