/** The pauses of workflows in memory, with the condition of the real ones. */

import type { WorkflowPause } from '../core/holds/workflow-pause.ts';
import type { WorkflowPauses } from '../core/ports.ts';
import { memoryRecords } from './memory-records.ts';

export const memoryWorkflowPauses = (): WorkflowPauses =>
  memoryRecords<WorkflowPause>(({ workflow }) => workflow);
