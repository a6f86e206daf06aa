/** The CDK app: one stack with every workflow that is found. Used by `cdk synth`, `cdk deploy` and the local cloud. */

import { addSteadfast, createApp } from '../lib/infra/synth.ts';

const app = createApp();
try {
  await addSteadfast(app);
} catch (error) {
  // The message says what is wrong in whose file; the stack of this program would only hide it.
  console.error(process.env['CDK_DEBUG'] === 'true' ? error : String(error));
  // At once: CDK writes an empty assembly when the process ends by itself.
  process.exit(1);
}
app.synth();
