/** In a process of its own. */

import { ACTING } from '../acting.ts';
import { verifyAlone } from '../workflow.ts';

export const handler = verifyAlone.handler(ACTING);
