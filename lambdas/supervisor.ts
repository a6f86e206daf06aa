/**
 * The supervisor of Scheduler-Agent-Supervisor: once a minute, finds what is due. It knows no
 * workflow; plans are in the table.
 */

import { supervisorHandler } from '../lib/supervisor/handler.ts';

export const handler = supervisorHandler();
