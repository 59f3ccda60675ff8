// `--config FILE`: the options of a command in a file.
import { type Command, Option } from 'commander';

/**
 * Adds `--config FILE`: a JSON object whose keys are names of the command's options without the dashes, e.g.
 * `"web-port": 9080`, and `"arguments"`, a list for the command's arguments. The command line goes before the
 * file.
 */
export function addConfigOption(command: Command): Command {
  return command
    .addOption(
      new Option('--config <file>', 'read options from a JSON file; the command line takes precedence'),
    )
    .hook('preAction', async (_, action) => {
      const { config } = action.opts<{ config?: string }>();
      if (config === undefined) return;
      const { applyConfigFile } = await import('./config-file.js');
      applyConfigFile(action, config);
    });
}
