/**
 * Names of workflows, steps and agents, and of everything that becomes part of a key.
 *
 * Owns: the legal names, including an item's. Every key of the store is built from these only (`#` separates
 * key parts and is in no legal name).
 */

import { refuse } from './errors.ts';

const INHERITED: ReadonlySet<string> = new Set(['constructor', 'prototype']);
const NAME = /^[a-z][a-z0-9-]{0,47}$/;
const ITEM = /^([a-z][a-z0-9-]{0,47})\[(0|[1-9]\d{0,4})\]$/;
/**
 * A child's id is the parent's id, its step and the index, joined by dots, which no name and no other id
 * contains.
 */
const EXECUTION_ID = /^[a-z0-9-]{1,64}(\.[a-z0-9-]{1,48}){0,20}$/;

export const NAME_WANTED =
  "a lower-case letter, then up to 47 lower-case letters, digits or dashes; not 'constructor', not 'prototype'";

/** @throws SteadfastError `bad-name` with the given name and what is allowed */
export function checkName(name: string, what: string): void {
  if (!isName(name)) {
    throw refuse(
      'bad-name',
      `${what} name ${JSON.stringify(String(name).slice(0, 60))} is not allowed: ${NAME_WANTED}`,
    );
  }
}

/** True for a legal name. Names become keys of records, so none may be a key that objects inherit. */
export const isName = (text: string): boolean =>
  typeof text === 'string' && NAME.test(text) && !INHERITED.has(text);
/** True for the name of a list's item: the list's step and the item's index, 'rooms[3]'. */
export const isItemName = (text: string): boolean => ITEM.test(text);

/** True for a step's name in a plan: an author's, or an item's. */
export const isStepName = (text: string): boolean => isName(text) || isItemName(text);

/**
 * A step's name in ids and keys that leave the deployment: for an item of a list only its index, because
 * brackets have a meaning in shells, addresses and file patterns.
 */
export const keyPartOf = (stepName: string): string => ITEM.exec(stepName)?.[2] ?? stepName;

/** The execution that was started from outside: this one, or the one that it is a part of. */
export const rootOf = (executionId: string): string => executionId.split('.', 1)[0] as string;

export const isExecutionId = (text: string): boolean => EXECUTION_ID.test(text);
