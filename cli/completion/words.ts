/**
 * What can be typed after `steadfast`, read off the commands themselves.
 *
 * Owns: that nothing is listed by hand. Does not own: how a shell learns them (`scripts.ts`).
 */

import type { Command, Option } from 'commander';

/** A value that one types: one of a few, or the name of a workflow. Anything else is a file, or unknown. */
export type Value = readonly string[] | 'workflow';

export interface OptionWords {
  /** As typed: `--status`, `-f`. */
  readonly names: readonly string[];
  readonly description: string;
  readonly takesValue: boolean;
  readonly value?: Value;
}

export interface CommandWords {
  readonly name: string;
  readonly description: string;
  /** Its own, without those that every command takes. */
  readonly options: readonly OptionWords[];
  /** What its first argument may be. */
  readonly argument?: Value;
}

export interface Words {
  readonly commands: readonly CommandWords[];
  readonly options: readonly OptionWords[];
}

export const wordsOf = (program: Command): Words => ({
  commands: program.createHelp().visibleCommands(program).map(commandWords),
  options: optionsOf(program),
});

function commandWords(command: Command): CommandWords {
  const [first] = command.registeredArguments;
  const argument = first?.argChoices ?? (first?.name().startsWith('workflow') ? 'workflow' : undefined);
  return {
    name: command.name(),
    description: command.description(),
    options: optionsOf(command).filter(({ names }) => !names.includes('--help')),
    ...(argument === undefined ? {} : { argument }),
  };
}

const optionsOf = (command: Command): OptionWords[] =>
  command.createHelp().visibleOptions(command).map(optionWords);

function optionWords(option: Option): OptionWords {
  const { long, short, description, argChoices } = option;
  const value = argChoices ?? (long === '--workflow' ? 'workflow' : undefined);
  return {
    names: [long, short].filter((name) => name !== undefined && name !== null),
    description,
    takesValue: option.required || option.optional,
    ...(value === undefined ? {} : { value }),
  };
}
