/**
 * The audit's Lambda function: reads the table without its indexes, and puts in
 * order what no index would show.
 */

import { auditHandler } from '../lib/supervisor/audit-handler.ts';

export const handler = auditHandler();
