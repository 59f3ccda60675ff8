// Completion of the command line for bash, zsh and fish.
import type { CommandHelp, OptionHelp } from './command-help.js';

export const SHELLS = ['bash', 'zsh', 'fish'] as const;

export type Shell = (typeof SHELLS)[number];

/**
 * Returns the script that completes commands, their options, and values that are a choice. Everything else is
 * completed as a file name.
 */
export function completionScript(shell: Shell, commands: readonly CommandHelp[]): string {
  const scripts = { bash: bashScript, zsh: zshScript, fish: fishScript };
  return scripts[shell](commands);
}

/** The name after `harvest`, e.g. `crawl watch`. */
function nameOf({ name }: CommandHelp): string {
  return name.replace(/^harvest /, '');
}

function flagsOf({ short, long }: OptionHelp): string[] {
  return [short, long].filter((flag) => flag !== undefined);
}

/** Commands and their parts. */
function flatten(commands: readonly CommandHelp[]): CommandHelp[] {
  return commands.flatMap((command) => [command, ...flatten(command.parts)]);
}

function shellQuoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

function bashScript(commands: readonly CommandHelp[]): string {
  const all = flatten(commands);
  const withParts = commands.filter(({ parts }) => parts.length > 0);
  return `# bash completion of harvest: source this text, or save it as harvest in bash-completion's directory
_harvest() {
  local current=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD - 1]} command= words= i
  for ((i = 1; i < COMP_CWORD; i++)); do
    [[ \${COMP_WORDS[i]} == -* ]] && continue
    if [[ -z $command ]]; then
      command=\${COMP_WORDS[i]}
      case $command in
        ${withParts.map(nameOf).join(' | ') || "''"}) ;;
        *) break ;;
      esac
    else
      command="$command \${COMP_WORDS[i]}"
      break
    fi
  done
  case "$command $previous" in
${all
  .flatMap((command) =>
    command.options
      .filter(({ choices }) => choices.length > 0)
      .map(
        (option) =>
          `    ${flagsOf(option)
            .map((flag) => shellQuoted(`${nameOf(command)} ${flag}`))
            .join(' | ')}) words=${shellQuoted(option.choices.join(' '))} ;;`,
      ),
  )
  .join('\n')}
    *)
      case $command in
        '') words=${shellQuoted(commands.map(nameOf).join(' '))} ;;
${all
  .map(
    (command) =>
      `        ${shellQuoted(nameOf(command))}) words=${shellQuoted([...command.parts.map((part) => nameOf(part).replace(/^.* /, '')), ...command.options.flatMap(flagsOf)].join(' '))} ;;`,
  )
  .join('\n')}
      esac
      ;;
  esac
  # A word that begins no option is a file, a URL or a host.
  if [[ $current != -* && -n $command && $words == -* ]]; then words=; fi
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -o bashdefault -F _harvest harvest harvest-kit
`;
}

function zshScript(commands: readonly CommandHelp[]): string {
  const described = (word: string, text: string): string =>
    shellQuoted(`${word.replaceAll(':', '\\:')}:${text.split('\n')[0] ?? ''}`);
  const optionsOf = (command: CommandHelp): string[] =>
    command.options.flatMap((option) => flagsOf(option).map((flag) => described(flag, option.description)));
  const list = (items: readonly string[]): string => items.map((item) => `      ${item}`).join('\n');
  return `#compdef harvest harvest-kit
# zsh completion of harvest: save this text as _harvest in a directory of $fpath
_harvest() {
  local -a parts options
  local command=\${words[2]} part=\${words[3]}
  if ((CURRENT == 2)); then
    parts=(
${list(commands.map((command) => described(nameOf(command), command.summary)))}
    )
    _describe command parts
    return
  fi
  case $command in
${commands
  .map(
    (command) => `  ${shellQuoted(nameOf(command))})
    parts=(
${list(command.parts.map((part) => described(nameOf(part).replace(/^.* /, ''), part.summary)))}
    )
    options=(
${list(optionsOf(command))}
    )
${
  command.parts.length === 0
    ? ''
    : `    case $part in
${command.parts
  .map(
    (part) => `    ${shellQuoted(nameOf(part).replace(/^.* /, ''))})
    parts=()
    options=(
${list(optionsOf(part))}
    ) ;;`,
  )
  .join('\n')}
    esac
`
}    ;;`,
  )
  .join('\n')}
  esac
  if [[ \${words[CURRENT]} == -* ]]; then
    _describe option options
  elif ((CURRENT == 3 && \${#parts} > 0)); then
    _describe command parts
  else
    _files
  fi
}
_harvest "$@"
`;
}

function fishScript(commands: readonly CommandHelp[]): string {
  const lines = ['# fish completion of harvest: save this text as ~/.config/fish/completions/harvest.fish'];
  const quote = (text: string): string =>
    `'${(text.split('\n')[0] ?? '').replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
  const add = (condition: string, command: CommandHelp): void => {
    for (const { short, long, value, choices, description } of command.options) {
      lines.push(
        [
          `complete -c harvest -n ${quote(condition)}`,
          ...(short === undefined ? [] : [`-s ${short.slice(1)}`]),
          ...(long === undefined ? [] : [`-l ${long.slice(2)}`]),
          ...(value === undefined ? [] : ['-r']),
          ...(choices.length === 0 ? [] : [`-f -a ${quote(choices.join(' '))}`]),
          `-d ${quote(description)}`,
        ].join(' '),
      );
    }
  };
  for (const command of commands) {
    const name = nameOf(command);
    lines.push(
      `complete -c harvest -n __fish_use_subcommand -f -a ${quote(name)} -d ${quote(command.summary)}`,
    );
    const seen = `__fish_seen_subcommand_from ${name}`;
    add(
      command.parts.length === 0
        ? seen
        : `${seen}; and not __fish_seen_subcommand_from ${partNames(command)}`,
      command,
    );
    for (const part of command.parts) {
      const word = nameOf(part).replace(/^.* /, '');
      lines.push(
        `complete -c harvest -n ${quote(`${seen}; and not __fish_seen_subcommand_from ${partNames(command)}`)} -f -a ${quote(word)} -d ${quote(part.summary)}`,
      );
      add(`${seen}; and __fish_seen_subcommand_from ${word}`, part);
    }
  }
  return `${lines.join('\n')}\n`;
}

function partNames({ parts }: CommandHelp): string {
  return parts.map((part) => nameOf(part).replace(/^.* /, '')).join(' ');
}
