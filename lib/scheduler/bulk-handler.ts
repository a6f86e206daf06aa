/**
 * The work of the bulk actions' agent, on AWS: ports → scheduler → a page.
 *
 * Owns: the composition of this one agent's work. Does not own: the work (`bulk-page.ts`), its queue and its
 * attempts (`agent/handler.ts`).
 *
 * It executes commands as the scheduler does, so it needs every workflow and its own ports: their log lines
 * and metrics have the role `scheduler`, not this agent's name.
 */

import { once } from '../aws/invocation.ts';
import { ENV } from '../aws/names.ts';
import { startingPortsOf, telemetryOf } from '../aws/ports.ts';
import type { Implementation } from '../core/plan/agent.ts';
import type { Workflow } from '../core/plan/workflow.ts';
import { actOnPage } from './bulk-page.ts';
import type { PageInput, PageOutput } from './bulk-workflow.ts';
import { IDS } from './ids.ts';
import { createScheduler } from './start.ts';

export function bulkWork(workflows: readonly Workflow[]): Implementation<PageInput, PageOutput> {
  const telemetry = telemetryOf({ role: 'scheduler' });
  const scheduler = once(() => {
    const personalRoles = new Set(process.env[ENV.personalRoles]?.split(' '));
    return createScheduler(startingPortsOf(telemetry), workflows, IDS, personalRoles);
  });
  return {
    execute: async (ctx, input) => {
      try {
        return await actOnPage(scheduler(), input, ctx);
      } finally {
        telemetry.meter.flush();
      }
    },
  };
}
