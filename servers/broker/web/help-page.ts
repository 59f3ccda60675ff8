import { type Html, html } from './html.js';

/** Help for people who search: what the query language can say (BRK-2), with examples. */
export function helpPart(): Html {
  return html`<article>
<h1>How to search</h1>
<p>This broker holds <em>summaries</em> of documents: title, keywords, description, parts of the text, links and dates. A query finds the documents whose summary matches it.</p>

<h2>Words and phrases</h2>
<dl class="examples">
<div><dt><code>gopher</code></dt><dd>summaries with this word.</dd></div>
<div><dt><code>"distributed hash table"</code></dt><dd>this phrase, in one line.</dd></div>
<div><dt><code>internet protocol</code></dt><dd>both words, wherever they stand.</dd></div>
</dl>
<p>Under <em>Settings</em> you choose whether upper and lower case differ, whether words must match whole (<code>net</code> is then not found in <code>internet</code>), and how many letters may be wrong, missing or too many.</p>

<h2>Combining</h2>
<dl class="examples">
<div><dt><code>gopher and veronica</code></dt><dd>both.</dd></div>
<div><dt><code>gopher or wais</code></dt><dd>one of them or both.</dd></div>
<div><dt><code>gopher except usenet</code></dt><dd>the first without the second; <code>gopher and not usenet</code> says the same.</dd></div>
<div><dt><code>(gopher or wais) and client</code></dt><dd>brackets group.</dd></div>
</dl>
<p>No operator binds more tightly than another. What stands to the right belongs together: <code>a and b or c</code> means <code>a and (b or c)</code>. If you mean the other, write the brackets. To search for the word <code>and</code> itself, put it in quotes.</p>

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

<h2>Limits</h2>
<p>A search that takes too long is stopped, and what was found until then is shown. A list that was cut says so.</p>
</article>`;
}
