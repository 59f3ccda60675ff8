import { Command } from 'commander';
import { makeTemplates } from '../../../clients/soif-tools/annotations.js';
import { inputName } from '../../../clients/soif-tools/input.js';
import { ProtocolError } from '../../../protocols/errors.js';
import { complain, EXIT } from '../exit.js';
import { OUTPUT_BUFFER_BYTES, StandardOutput } from '../standard-output.js';
import { filesOf, openFile } from './files.js';

/** Faults of one file that are listed; a file of another kind has one in each line. */
const MAX_FAULTS = 1000;

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
    .action(async (files: string[], { strict }: { readonly strict: boolean }) => {
      process.exitCode = await mktemplate(filesOf(files), strict);
    });
}

async function mktemplate(files: readonly string[], strict: boolean): Promise<number> {
  await using output = new StandardOutput({ bufferBytes: OUTPUT_BUFFER_BYTES });
  let incomplete = false;
  for (const file of files) {
    const warn = (sentence: string): void => complain('mktemplate', `${inputName(file)}: ${sentence}`);
    let faults = 0;
    const templates = makeTemplates(openFile(file), {
      mode: strict ? 'strict' : 'lenient',
      onWarning: ({ rule, line, message, dropped }) => {
        incomplete ||= dropped;
        if (++faults <= MAX_FAULTS) warn(`line ${line}: ${message}${dropped ? ', skipped' : ''} (${rule})`);
      },
    });
    try {
      for await (const template of templates) {
        if (!(await output.write(template))) return EXIT.ok;
      }
      if (faults > MAX_FAULTS) warn(`${faults - MAX_FAULTS} more faults are not listed`);
    } catch (error) {
      if (!(error instanceof ProtocolError)) throw error;
      warn(error.message);
      return EXIT.failure;
    }
  }
  return incomplete ? EXIT.failure : EXIT.ok;
}
