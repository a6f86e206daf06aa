/**
 * Warns of names that are probably mistakes: `tags` that no input has, and fields named like a password that
 * people will see. It runs when a workflow is loaded for a deployment.
 *
 * Owns: which names, and the messages. Does not own: the effect of `tags` and `show` (`search.ts`,
 * `check-waiting.ts`).
 */

import { type Json, isJsonObject } from '../../core/values/json.ts';
import { nearest } from '../../core/values/nearest.ts';
import type { Workflow } from '../../core/plan/workflow.ts';
import { documentOf, follow, type JsonSchemaOf, knownOf, resolved } from './known-schema.ts';

export interface OddName {
  readonly kind: 'unknownSearch' | 'secret';
  readonly workflow: string;
  /** The name of the option in the code. */
  readonly name: string;
  readonly message: string;
}

const SECRETS =
  'password passwd passphrase pwd secret token authorization credential credentials cvc cvv'.split(' ');
const SECRET_PAIRS = 'api key,private key,access key,card number,credit card'.split(',');

/** True if a name is like `apiKey`, `card_number`, `newPassword`. */
export function isLikeSecret(name: string): boolean {
  const words = name
    .replaceAll(/([a-z\d])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[\s_.-]+/);
  const two = words.slice(-2).join(' ');
  const joined = SECRET_PAIRS.map((pair) => pair.replace(' ', ''));
  const last = words.at(-1) ?? '';
  return SECRETS.includes(last) || SECRET_PAIRS.includes(two) || joined.includes(last);
}

/** Returns the odd names of a workflow, and of the workflows that it runs. */
export function oddNames(workflow: Workflow, jsonSchemaOf: JsonSchemaOf): OddName[] {
  const { name, plan, children } = workflow;
  const place = `workflow '${name}'`;
  const fields = inputFields(workflow, jsonSchemaOf).filter(isLikeSecret);
  const shown = plan.steps.flatMap((step) =>
    step.kind === 'approval' && isJsonObject(step.show as Json | undefined)
      ? Object.keys(step.show as object)
          .filter(isLikeSecret)
          .map((key) => ({ key, step: step.name }))
      : [],
  );
  const secret = (key: string, what: string): OddName => {
    const message = `${place}${what}: keep it in a store of secrets, and give its name or an id instead`;
    return { kind: 'secret', workflow: name, name: key, message };
  };
  return [
    ...unknownSearch(workflow, jsonSchemaOf),
    ...(plan.search ?? [])
      .filter(isLikeSecret)
      .map((key) =>
        secret(key, `: its executions are found by '${key}', which is kept and listed as it stands`),
      ),
    ...fields.map((key) =>
      secret(key, `: its input has '${key}', and an input is kept with its execution and shown to operators`),
    ),
    ...shown.map(({ key, step }) =>
      secret(key, `, step '${step}': it shows '${key}' to whoever sees its question`),
    ),
    ...children.flatMap((child) => oddNames(child, jsonSchemaOf)),
  ];
}

/** Returns the names of the input's fields, as far as its schema gives them. */
function inputFields({ input }: Workflow, jsonSchemaOf: JsonSchemaOf): string[] {
  const known = documentOf(input, 'input', jsonSchemaOf);
  const fields = known === undefined ? undefined : resolved(known)['properties'];
  return isJsonObject(fields) ? Object.keys(fields) : [];
}

function unknownSearch(workflow: Workflow, jsonSchemaOf: JsonSchemaOf): OddName[] {
  const known = knownOf(workflow, 'input', jsonSchemaOf);
  return (workflow.plan.search ?? []).flatMap((key) => {
    const end = follow(known, [key]);
    if (!('names' in end)) return [];
    const like = nearest(key, end.names);
    const meant = like === undefined ? '' : `; did you mean '${like}'?`;
    const message = `workflow '${workflow.name}': tags has '${key}', which its input does not have, so that an execution is found by it only if its start gives a tag of that name: the input has ${end.names.join(', ') || 'no fields'}${meant}`;
    return [{ kind: 'unknownSearch' as const, workflow: workflow.name, name: key, message }];
  });
}
