/** The audit's Lambda function: reads the table without its indexes, and repairs what no index would show. */

import { auditHandler } from '../lib/supervisor/audit-handler.ts';

export const handler = auditHandler();
