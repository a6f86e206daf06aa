/** Synthesises a stack of one folder of `test/e2e/workflows`, and runs it on its own local cloud. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type IVpc, Vpc } from 'aws-cdk-lib/aws-ec2';
import { Stack } from 'aws-cdk-lib/core';
import type { ExecutionView } from '../../lib/api/answers.ts';
import { discoverWorkflows } from '../../lib/infra/discover.ts';
import type { SteadfastProps } from '../../lib/infra/steadfast-props.ts';
import { SteadfastStack } from '../../lib/infra/steadfast-stack.ts';
import { createApp, PROJECT_ROOT } from '../../lib/infra/synth.ts';
import { type Cloud, type CloudOptions, startCloud } from '../../local/cloud.ts';

/** The stack's name. */
export const SMALL_STACK = 'Small';

export interface SmallStack {
  readonly cloud: Cloud;
  readonly assembly: string;
  /** A folder for the test's files; it is removed with the stack. */
  readonly folder: string;
  /** @returns the id of the execution */
  readonly begin: (workflow: string, input: object) => Promise<string>;
  readonly ended: (executionId: string) => Promise<ExecutionView>;
  /** Fires every schedule now, so that a supervisor sweeps. */
  readonly tickNow: () => void;
  readonly strike: () => Promise<void>;
}

export interface SmallStackOptions {
  readonly workflows: string;
  readonly settings?: Partial<SteadfastProps>;
  /** These agents run in containers, in a network of another stack. */
  readonly inContainers?: readonly string[];
  readonly cloud?: Partial<CloudOptions>;
}

export async function setSmallStack(options: SmallStackOptions): Promise<SmallStack> {
  const folder = mkdtempSync(join(tmpdir(), `steadfast-e2e-${options.workflows}-`));
  const { assembly, stack } = await synthesized(join(folder, 'cdk.out'), options);
  const own = { assembly, stack, dataDir: join(folder, 'data'), port: 0, schedules: true };
  const cloud = await startCloud({ ...own, ...options.cloud });
  return {
    cloud,
    assembly,
    folder,
    begin: async (workflow, input) => {
      const start = { method: 'POST', body: JSON.stringify({ input }) };
      const response = await fetch(`${cloud.apiUrl}/workflows/${workflow}/executions`, start);
      return ((await response.json()) as { executionId: string }).executionId;
    },
    ended: async (executionId) => {
      for (;;) {
        const response = await fetch(`${cloud.apiUrl}/executions/${executionId}?wait=20s`);
        const view = (await response.json()) as ExecutionView;
        if (view.endedAt !== undefined) return view;
      }
    },
    tickNow: () => {
      for (const { name } of cloud.control.schedules()) cloud.control.tick(name).catch(() => undefined);
    },
    strike: async () => {
      await cloud.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** @param outdir the folder for its assembly */
export async function synthesized(
  outdir: string,
  { workflows: only, settings, inContainers = [] }: SmallStackOptions,
): Promise<{ readonly assembly: string; readonly stack: string }> {
  const app = createApp({ outdir, builtinCloudFormationValidation: false });
  const folders = ['test/e2e/workflows'];
  const workflows = await discoverWorkflows({ root: PROJECT_ROOT, folders, only: [only] });
  const network = (): IVpc => new Vpc(new Stack(app, 'Net'), 'Vpc', { maxAzs: 2 }) as IVpc;
  const container = inContainers.length === 0 ? undefined : { container: { vpc: network() } };
  const agentSettings = Object.fromEntries(
    inContainers.flatMap((agent) => (container === undefined ? [] : [[agent, container] as const])),
  );
  const { stackName } = new SteadfastStack(app, SMALL_STACK, { workflows, agentSettings, ...settings });
  return { assembly: app.synth().directory, stack: stackName };
}
