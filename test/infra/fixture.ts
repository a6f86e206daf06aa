/** Makes temporary workflow folders, and describes a deployment without folders. */

import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Discovery } from '../../lib/infra/discovery.ts';

const made: string[] = [];
process.once('exit', () => {
  for (const folder of made) rmSync(folder, { recursive: true, force: true });
});

/** Writes files into a new folder that is removed with the process. @returns its path */
export function project(files: Readonly<Record<string, string>> = {}): string {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'steadfast-infra-')));
  made.push(root);
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), content);
  }
  return root;
}

/** The text of a module that exports a workflow of these agents. */
export function workflowModule(name: string, agents: readonly string[], timeoutMs = 20_000): string {
  const declared = agents.map((agent) => ({ spec: { name: agent, timeoutMs } }));
  const workflow = { kind: 'steadfast:workflow', name, agents: declared };
  return `export const it: unknown = ${JSON.stringify(workflow)};\n`;
}

export const AGENT_MODULE =
  'export const handler = async (): Promise<object> => ({ batchItemFailures: [] });\n';

/** Two workflows: `order` with agents `pay` and `ship`, `report` with the agent `mail` alone. */
export const FOUND: Discovery = {
  root: '/nowhere',
  workflows: [
    { name: 'order', file: '/nowhere/order/workflow.ts', exportName: 'order', agents: ['pay', 'ship'] },
    { name: 'report', file: '/nowhere/report/workflow.ts', exportName: 'report', agents: ['mail'] },
  ],
  agents: [
    { name: 'pay', timeoutMs: 20_500, file: '/nowhere/order/agents/pay.ts', peers: ['pay', 'ship'] },
    { name: 'ship', timeoutMs: 840_000, file: '/nowhere/order/agents/ship.ts', peers: ['pay', 'ship'] },
    { name: 'mail', timeoutMs: 60_000, file: '/nowhere/report/agents/mail.ts', peers: ['mail'] },
  ],
  triggers: [],
  warnings: [],
};
