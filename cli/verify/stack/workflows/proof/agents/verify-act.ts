/** In the function’s own process. */

import { ACTING } from '../acting.ts';
import { verifyAct } from '../workflow.ts';

export const handler = verifyAct.handler(ACTING);
