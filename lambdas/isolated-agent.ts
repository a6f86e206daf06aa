/** An agent that declares `isolate`: like `agent.ts`, with its author's code in a process of its own. */

import { handler as ofFile } from '@steadfast/agent';
import { handlerOfFile } from '../lib/agent/handler.ts';
import { isolatedHandler } from '../lib/agent/isolated-handler.ts';

export const handler = isolatedHandler(handlerOfFile('@steadfast/agent-name', ofFile), import.meta.url);
