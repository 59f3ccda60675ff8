import { type Html, html } from '../../web/html.js';
import { COMMAND_GROUPS } from './admin-commands.js';

/** Renders the help for users: the query language (BRK-2), with examples. */
export function renderHelp(): Html {
  return html`<article>
<h1>How to search</h1>
<p>This broker holds <em>summaries</em> of documents: title, keywords, description, parts of the text, links and dates. A query finds the documents whose summary matches it.</p>

<h2>Words and phrases</h2>
<dl class="examples">
<div><dt><code>gopher</code></dt><dd>summaries with this word.</dd></div>
<div><dt><code>"distributed hash table"</code></dt><dd>this phrase, in one line.</dd></div>
<div><dt><code>internet protocol</code></dt><dd>both words, anywhere in the summary. If few summaries have all words, those with most of them follow.</dd></div>
</dl>
<p>Other forms of a word are found too, and what the rules below cannot read searches its words; the page says so, and one link repeats the query exactly as typed. <em>Forgiving</em> under <em>Settings</em> turns this off.</p>
<p>There you also choose whether upper and lower case differ, whether words must match whole (<code>net</code> is then not found in <code>internet</code>), and how many letters may be wrong, missing or too many.</p>

<h2>Combining</h2>
<dl class="examples">
<div><dt><code>gopher and veronica</code></dt><dd>both.</dd></div>
<div><dt><code>gopher or wais</code></dt><dd>one of them or both.</dd></div>
<div><dt><code>gopher except usenet</code></dt><dd>the first without the second; <code>gopher and not usenet</code> means the same.</dd></div>
<div><dt><code>(gopher or wais) and client</code></dt><dd>parentheses group.</dd></div>
</dl>
<p>No operator binds more tightly than another. They group to the right: <code>a and b or c</code> means <code>a and (b or c)</code>. For the other meaning, write parentheses. To search for the word <code>and</code> itself, put it in quotes.</p>

<h2>Attributes</h2>
<dl class="examples">
<div><dt><code>title : harvest</code></dt><dd>the word in the title.</dd></div>
<div><dt><code>author : "van der berg"</code></dt><dd>a value with blanks is quoted.</dd></div>
<div><dt><code>url : "example.org"</code></dt><dd>part of the address.</dd></div>
<div><dt><code>type exact PostScript</code></dt><dd>the whole value is this.</dd></div>
<div><dt><code>title regexp "^[0-9]+ ways"</code></dt><dd>the value matches a regular expression.</dd></div>
<div><dt><code>file-size greater-than 100000</code></dt><dd>numbers compare as numbers; <code>less-than</code> likewise.</dd></div>
</dl>
<p>Every summary lists its attributes: follow <em>Summary</em> below a result to see which there are.</p>

<h2>Patterns</h2>
<p>In a word, <code>.</code> stands for any one character, <code>#</code> for any number of them, <code>[a-f]</code> for one of a class; <code>^</code> and <code>$</code> are the ends of a line. A backslash takes the next character as it is: <code>3\\.14</code>.</p>

<h2>Narrowing, ordering, following</h2>
<p>Next to the results are the types, hosts and gatherers of everything that was found, with counts; each is a link that narrows the result. Results come best first, those with most matched lines first, or newest first. Objects with all words and those with most of what the words say are in one order, in which a missing word costs by what it says; <em>Without</em> names the words that an object lacks. Put a word in quotes if every object must have it. Each shows the passages of the text with most of the words. <em>List two objects of each host</em> folds the others of a host into a link. A query that finds little comes with queries like it that find more: another spelling, fewer words. <em>RSS</em> is an address for a feed reader, <em>JSON</em> one for programs.</p>

<h2>Limits</h2>
<p>A search that takes too long is stopped, and the page shows the objects found until then. The page says if a list is incomplete.</p>
<p>With a keyboard: <kbd>/</kbd> goes to the query, <kbd>j</kbd> and <kbd>k</kbd> go from result to result.</p>
</article>`;
}

/** Renders the help for administrators: the effect of each command (BRK-5.1, 9.13). */
export function renderAdminHelp(admin: string): Html {
  return html`<article>
<h1>Help for administrators</h1>
<p>The <a href="${admin}">administration page</a> sends one command at a time to the Broker. Each needs the password that <code>Admin-Password</code> sets in <code>broker.conf</code>; it is sent with the command and not stored. Long commands continue in the background, and their outcome is logged. Changes by commands last until the Broker ends; permanent settings belong in <code>broker.conf</code>.</p>
${COMMAND_GROUPS.map(
  ({ title, commands }) => html`<h2>${title}</h2>
<dl>
${commands.map((command) => html`<div><dt>${command.title}</dt><dd>${command.effect}${command.parameter === undefined ? '' : html`; <em>parameters:</em> ${command.parameter}`} <span class="raw"><code>#${command.kind}</code></span></dd></div>\n`)}</dl>
`,
)}
<p>After deleting objects, use <em>Index corpus</em>. A list is separated by blanks. The same commands can be sent by <code>harvest broker admin</code>.</p>
</article>`;
}

/** Renders the help about content summaries (BRK-9.13): SOIF and the usual attributes. */
export function renderSoifHelp(): Html {
  return html`<article>
<h1>About summaries</h1>
<p>A broker stores no documents, but a <em>content summary</em> of each: a record in SOIF, the Summary Object Interchange Format. A summary has a type, the address of its document, and attributes with values of any length.</p>
<pre class="sample">@FILE { http://www.example.org/
Title{10}:	An example
Type{4}:	HTML
}</pre>
<p>The number in braces is the length of the value in bytes, so that a value can contain anything.</p>
<h2>Usual attributes</h2>
<dl>
<div><dt>Title, Author, Abstract, Keywords, Description</dt><dd>the document's own description of itself.</dd></div>
<div><dt>Full-Text, Partial-Text</dt><dd>all of its text, or the beginning.</dd></div>
<div><dt>Type, File-Size, MD5</dt><dd>its kind, its size in bytes, and a fingerprint of its content.</dd></div>
<div><dt>URL-References</dt><dd>the addresses that it links to.</dd></div>
<div><dt>Last-Modification-Time</dt><dd>when the document was last changed.</dd></div>
<div><dt>Update-Time</dt><dd>when its summary was created.</dd></div>
<div><dt>Time-to-Live, Refresh-Rate</dt><dd>seconds until the summary is deleted, and until it should be created again.</dd></div>
<div><dt>Gatherer-Name, Gatherer-Host, Gatherer-Version</dt><dd>the Gatherer that created the summary.</dd></div>
</dl>
<p>Any of them can be searched: <code>author : writer</code>. Names are compared without regard to case.</p>
</article>`;
}
