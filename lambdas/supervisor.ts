/**
 * The supervisor of Scheduler-Agent-Supervisor: finds due work once a minute. It needs no workflow, because
 * plans are in the table.
 */

import { supervisorHandler } from '../lib/supervisor/handler.ts';

export const handler = supervisorHandler();
