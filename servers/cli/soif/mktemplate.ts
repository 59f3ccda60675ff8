import { Command } from 'commander';
import { lazyAction } from '../lazy-action.js';

const HELP = `
Converts annotation files, which are written by hand, into SOIF. Such a file has no sizes; a value is the rest of its line after
exactly one tab:

  @FILE { http://www.example.org/paper.ps
  Title:<tab>A Paper About Something
  }

Small faults are tolerated and reported on standard error with file and line: a blank instead of the tab, CR LF, a size in braces,
a missing closing brace. Other wrong lines are skipped. --strict stops at the first fault instead.

Examples:
  mktemplate annotations | template2db annotations.gdbm
  harvest mktemplate --strict annotations annotations2 > manual.soif

Exit status: 0 all lines were read; 1 some were skipped, or a file cannot be read; 2 usage.
`;

/** `mktemplate annotations [annotations2 ...]` (SOIF-11.1, G-137, G-138). */
export function mktemplateCommand(): Command {
  return new Command('mktemplate')
    .summary('convert hand-written annotation files into SOIF')
    .argument('[files...]', 'annotation files; - or none is standard input')
    .option('--strict', 'stop at the first fault', false)
    .addHelpText('after', HELP)
    .action(lazyAction(async () => (await import('./actions/mktemplate.js')).mktemplate));
}
