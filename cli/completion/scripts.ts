/**
 * How each shell learns what can be typed. The scripts hold the words, so that a Tab starts no process; the names of workflows
 * alone are asked for.
 *
 * Owns: three shells' ways. Does not own: the words (`words.ts`).
 *
 * Nothing that was typed is ever run: a word is compared and no more.
 */

import type { CommandWords, OptionWords, Value, Words } from './words.ts';

export const SHELLS = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof SHELLS)[number];

/** What the scripts themselves call. */
export const NAMES_COMMAND = 'workflow-names';
/** Only a Steadfast that the project around the working directory has: nothing is fetched for a Tab. */
const WORKFLOWS = `npx --no -- steadfast ${NAMES_COMMAND} 2>/dev/null`;

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

const namesIn = (options: readonly OptionWords[]): string[] => options.flatMap(({ names }) => names);

const valued = (options: readonly OptionWords[]): { name: string; value: Value }[] =>
  options.flatMap(({ names, value }) => (value === undefined ? [] : names.map((name) => ({ name, value }))));

const bashValue = (value: Value): string =>
  value === 'workflow' ? `words=$(${WORKFLOWS})` : `words=${quoted(value.join(' '))}`;

/** What may follow `previous`; nothing where that is what a file or an id follows. */
function bashCase({ name, options, argument }: CommandWords): string {
  const free = options.filter((each) => each.takesValue && each.value === undefined);
  const lines = [
    ...valued(options).map((each) => `        ${each.name}) ${bashValue(each.value)} ;;`),
    ...(free.length === 0 ? [] : [`        ${namesIn(free).join('|')}) ;;`]),
    ...(argument === undefined ? [] : [`        ${name}) ${bashValue(argument)} ;;`]),
    `        *) words=${quoted(namesIn(options).join(' '))}" $shared" ;;`,
  ];
  return `      ${name}) case $previous in\n${lines.join('\n')}\n      esac ;;`;
}

/** Also the one for zsh, whose `bashcompinit` understands it. @param isTaken whether the shell completes `npx` already */
function bashAlike({ commands, options }: Words, isTaken: string): string {
  const names = commands.map(({ name }) => name);
  const free = namesIn(options.filter(({ takesValue }) => takesValue));
  return `_steadfast() {
  local current=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD-1]} command='' words='' at
  local shared=${quoted(namesIn(options).join(' '))}
  COMPREPLY=()
  if [[ \${COMP_WORDS[0]} == npx && \${COMP_WORDS[1]} != steadfast ]]; then return; fi
  for ((at = 1; at < COMP_CWORD; at++)); do
    case \${COMP_WORDS[at]} in
      ${names.join('|')}) command=\${COMP_WORDS[at]}; break ;;
    esac
  done
  case $previous in
    ${free.join('|')}) ;;
    *) case $command in
      '') words=${quoted(names.join(' '))}" $shared" ;;
${commands.map(bashCase).join('\n')}
    esac ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _steadfast steadfast
${isTaken} || complete -o default -F _steadfast npx
`;
}

const bash = (words: Words): string => bashAlike(words, 'complete -p npx >/dev/null 2>&1');

const zsh = (words: Words): string =>
  `autoload -U +X compinit && compinit -C
autoload -U +X bashcompinit && bashcompinit
${bashAlike(words, '(( ${+_comps[npx]} ))')}`;

function fish({ commands, options }: Words): string {
  const names = commands.map(({ name }) => name).join(' ');
  const line = (condition: string, rest: string): string =>
    `complete -c steadfast -n ${quoted(condition)} ${rest}`;
  const none = `not __fish_seen_subcommand_from ${names}`;
  return [
    'complete -c steadfast -e',
    ...options.map((each) => line('true', fishOption(each))),
    ...commands.flatMap(({ name, description, options: own, argument }) => [
      line(none, `-f -a ${name} -d ${quoted(description)}`),
      ...own.map((each) => line(`__fish_seen_subcommand_from ${name}`, fishOption(each))),
      ...(argument === undefined
        ? []
        : [line(`test (commandline -opc)[-1] = ${name}`, `-f -a ${fishValue(argument)}`)]),
    ]),
    // What follows \`npx steadfast\` is what follows \`steadfast\`.
    `complete -c npx -n 'test (count (commandline -opc)) -ge 2; and test (commandline -opc)[2] = steadfast' -f -a '(complete -C (string replace -r "^\\s*npx\\s+" "" -- (commandline -cp)))'`,
    '',
  ].join('\n');
}

function fishOption({ names, description, takesValue, value }: OptionWords): string {
  const words = names.map((name) => (name.startsWith('--') ? `-l ${name.slice(2)}` : `-s ${name.slice(1)}`));
  const given = value === undefined ? (takesValue ? ' -r' : '') : ` -x -a ${fishValue(value)}`;
  return `${words.join(' ')}${given} -d ${quoted(description)}`;
}

const fishValue = (value: Value): string => quoted(value === 'workflow' ? `(${WORKFLOWS})` : value.join(' '));

export const SCRIPTS: Readonly<Record<Shell, (words: Words) => string>> = { bash, zsh, fish };
