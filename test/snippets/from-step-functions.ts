/** The code of docs/FROM-STEP-FUNCTIONS.md. */

import { blocksOf, type Files, read } from './blocks.ts';

const page = read('docs/FROM-STEP-FUNCTIONS.md');

/** The first block of code is the agents' file; each other one exports a workflow. */
const [agentsFile = '', ...workflowFiles] = blocksOf(page, 'ts');
const nameIn = (text: string): string => /export const (\w+) = workflow\(/.exec(text)?.[1] ?? 'none';

/** The state machines, each followed by a workflow. */
export const machines: readonly string[] = blocksOf(page, 'json');
export const workflowNames: readonly string[] = workflowFiles.map(nameIn);
export const stepFunctionsFiles: Files = new Map([
  ['agents.ts', agentsFile],
  ...workflowFiles.map((text): [string, string] => [`${nameIn(text)}.ts`, text]),
]);
