/**
 * Connects queues to functions by the template's mappings. Does not own: one connection (event-source.ts).
 */
import type { Clock } from '../clock.ts';
import type { PlatformAccess } from '../iam/platform-access.ts';
import type { QueueDirectory } from '../sqs/queue-directory.ts';
import { TemplateError } from '../template/json.ts';
import type { MappingSpec } from '../template/stack-model.ts';
import { EventSource } from './event-source.ts';
import type { LocalFunction } from './local-function.ts';

export interface Ends {
  readonly queues: QueueDirectory;
  readonly functionByName: (name: string) => LocalFunction | undefined;
  readonly clock: Clock;
}

/** @throws TemplateError for a mapping whose queue or function is not in the stack */
export const connectSources = (
  mappings: readonly MappingSpec[],
  platform: PlatformAccess,
  { queues, functionByName, clock }: Ends,
): EventSource[] =>
  mappings
    .filter((spec) => spec.enabled)
    .map((spec) => {
      const queue = queues.byArn(spec.queueArn);
      const local = functionByName(spec.functionName);
      const path = `${spec.logicalId}.Properties`;
      if (queue === undefined)
        throw new TemplateError(path, `its queue ${spec.queueArn} is not in this stack`);
      if (local === undefined)
        throw new TemplateError(path, `its function ${spec.functionName} is not in this stack`);
      const access = platform.mapping(local.spec.logicalId, spec.queueArn);
      return new EventSource(spec, queue, local, clock, access);
    });
