// Decision clients for Node against `yesno serve`, unmodified. The address is in SERVER_URL; the scripted model
// there says yes, or picks a row, when words of three letters or more are in the input too.
import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { createOpenAI } from "@ai-sdk/openai";
import { createTypeSafeAi } from "@ai-sdk/typesafe-ai";
import * as typesafe from "@typesafe-ai/sdk";
import {
  APICallError,
  experimental_decide as decide,
  Experimental_DecisionRefusalError as DecisionRefusalError,
} from "ai";
import OpenAI from "openai";

const root = process.env.SERVER_URL;
const apiKey = "unused";
const ticket = "I was charged twice";
const refuse = "words that the model declines to talk about";
const mute = "words to which the model says nothing of use";
const down = "words at which the provider fails";
const busyOnce = "words at which the provider is busy, once";
const many = Object.fromEntries(Array.from({ length: 255 }, (_, i) => [`queue ${i}`, i === 200 ? "was charged" : null]));

const near = (actual, expected) => assert.ok(Math.abs(actual - expected) < 1e-9, `${actual} is not ${expected}`);
const sum = (numbers) => numbers.reduce((total, number) => total + number, 0);

describe("openai", () => {
  const client = new OpenAI({ baseURL: `${root}/v1`, apiKey, maxRetries: 0 });
  const billing = { type: "predicate", name: "billing", instructions: "Was the customer charged twice?" };
  const team = {
    type: "choice",
    name: "team",
    instructions: "Which one?",
    choices: [{ value: true, description: "was charged" }, { value: "true" }, { value: false }],
  };
  const mood = {
    type: "score",
    name: "mood",
    instructions: "How angry?",
    levels: [{ label: "calm" }, { label: "angry", description: "was charged" }],
  };
  const ask = (questions, input = ticket, options = {}) =>
    client.decisions.create({ model: "gpt-6-luna", input, questions }, options);

  test("answers of each type come in question order", async () => {
    const { answers, usage } = await ask([billing, team, mood, { ...billing, name: undefined }, billing]);
    assert.deepEqual(answers.map((answer) => answer.type), ["predicate", "choice", "score", "predicate", "predicate"]);
    assert.deepEqual(answers.map((answer) => answer.name), ["billing", "team", "mood", null, "billing"]);
    assert.ok(answers[0].probability > 0.8);
    assert.equal(answers[1].choice, true);
    assert.deepEqual(answers[1].probabilities.map((entry) => entry.value), [true, "true", false]);
    near(sum(answers[1].probabilities.map((entry) => entry.probability)), 1);
    near(answers[2].score, sum(answers[2].probabilities.map((entry) => entry.value * entry.probability)));
    assert.equal(usage.total_tokens, usage.input_tokens + usage.output_tokens);
  });

  test("a refusal stands beside answers, and missing evidence gets no number", async () => {
    const asked = [refuse, mute].map((words) => ({ ...billing, instructions: `Is it ${words}?` }));
    const { answers } = await ask([...asked, billing]);
    assert.deepEqual(answers.map((answer) => answer.type), ["refusal", "refusal", "predicate"]);
  });

  test("a request id comes along", async () => {
    const { data, request_id } = await ask([billing]).withResponse();
    assert.ok(request_id);
    assert.equal(data.answers.length, 1);
  });

  test("errors have their types", async () => {
    await assert.rejects(ask([]), (error) => error instanceof OpenAI.BadRequestError && Boolean(error.requestID));
    await assert.rejects(ask([billing], down), OpenAI.InternalServerError);
  });

  test("it tries again after a busy reply", async () => {
    const { answers } = await ask([billing], `charged ${busyOnce} (openai)`, { maxRetries: 2 });
    assert.ok(answers[0].probability > 0.8);
  });

  test("models are listed", async () => {
    const { data } = await client.models.list();
    assert.ok(data.some((model) => model.id === "scripted"));
  });
});

describe("@typesafe-ai/sdk", () => {
  const client = new typesafe.TypeSafeClient({ baseURL: root, apiKey, retry: { maxRetries: 0 } });
  const questions = {
    charged: typesafe.noul("Was the customer charged twice?"),
    team: typesafe.choice("Which?", { billing: "was charged", 질문: null, "": { any: ["thing"] } }),
    mood: typesafe.score({ ask: "How angry?" }, ["calm", ["was", "charged"], "angry"]),
  };

  test("answers of each type come under the ids of their questions", async () => {
    const { data, requestId } = await client.systemOne({ state: { body: ticket }, questions }).withResponse();
    const { charged, team, mood } = data.answers;
    assert.ok(requestId);
    assert.ok(charged.noul > 0.8);
    assert.equal(team.choice, "billing");
    assert.deepEqual(Object.keys(team.probabilities), ["billing", "질문", ""]);
    near(sum(Object.values(team.probabilities)), 1);
    near(team.confidence, (Math.max(...Object.values(team.probabilities)) - 1 / 3) / (1 - 1 / 3));
    near(mood.score, mood.probabilities[1] + 2 * mood.probabilities[2]);
    assert.deepEqual(mood.legend[1], ["was", "charged"]);
    assert.ok(Number.isInteger(data.usage.input_tokens));
  });

  test("errors have their types", async () => {
    const bad = { q: { type: "Noul", instructions: "Is it?" } };
    await assert.rejects(client.systemOne({ state: ticket, questions: bad }), typesafe.UnprocessableEntityError);
    await assert.rejects(client.systemOne({ state: null, questions }), typesafe.UnprocessableEntityError);
    await assert.rejects(client.systemOne({ state: down, questions }), typesafe.InternalServerError);
  });

  test("what has no answer is an error and no number", async () => {
    for (const words of [refuse, mute]) {
      const asked = { ...questions, mine: typesafe.noul(`Is it ${words}?`) };
      await assert.rejects(
        client.systemOne({ state: ticket, questions: asked }),
        (error) => error instanceof typesafe.APIError && error.status < 500 && error.message.includes("mine"),
      );
    }
  });

  test("it tries again after a busy reply", async () => {
    const patient = new typesafe.TypeSafeClient({ baseURL: root, apiKey });
    const { answers } = await patient.systemOne({
      state: `charged ${busyOnce} (typesafe)`,
      questions: { charged: questions.charged },
    });
    assert.ok(answers.charged.noul > 0.8);
  });

  test("models are listed", async () => {
    const models = await client.models.list();
    assert.ok(models.some((model) => model.name === "scripted"));
  });
});

const models = {
  "@ai-sdk/openai": createOpenAI({ baseURL: `${root}/v1`, apiKey }).decisionModel("gpt-6-luna"),
  "@ai-sdk/typesafe-ai": createTypeSafeAi({ baseURL: `${root}/v1`, apiKey }).evaluationModel("jev-latest"),
};

for (const [name, model] of Object.entries(models)) {
  describe(`ai with ${name}`, () => {
    const questions = {
      charged: { type: "boolean", instructions: "Was the customer charged?", criteria: { true: "twice" } },
      other: { type: "boolean", instructions: { ask: "Is it about something else?" } },
      team: { type: "choice", instructions: "Which?", criteria: { billing: "was charged", "é": null, support: { a: 1 } } },
      queue: { type: "choice", instructions: "Which?", criteria: many },
      mood: { type: "score", instructions: "How angry?", criteria: ["calm", "was charged", "angry"] },
      levels: { type: "score", instructions: "Which?", criteria: Array.from({ length: 10 }, (_, i) => `level ${i}`) },
    };

    for (const [kind, state] of Object.entries({ text: ticket, object: { body: ticket, order: 4471 } })) {
      test(`answers to ${kind} pass its checks of sums, means and the likeliest option`, async () => {
        const { answers, response } = await decide({ model, state, questions, maxRetries: 0 });
        assert.ok(answers.charged.probability > 0.8);
        assert.ok(answers.other.probability < 0.5);
        assert.equal(answers.team.choice, "billing");
        assert.equal(answers.queue.choice, "queue 200");
        near(sum(Object.values(answers.queue.probabilities)), 1);
        assert.ok(answers.mood.score > 0.5);
        assert.equal(Object.keys(answers.levels.probabilities).length, 10);
        assert.ok(response.modelId);
      });
    }

    test("what has no answer is an error and no number", async () => {
      for (const words of [refuse, mute]) {
        const asked = { mine: { type: "boolean", instructions: `Is it ${words}?` } };
        await assert.rejects(
          decide({ model, state: ticket, questions: asked, maxRetries: 0 }),
          (error) => error instanceof DecisionRefusalError || (APICallError.isInstance(error) && !error.isRetryable),
        );
      }
    });

    test("a failing provider can be tried again, and a busy one is", async () => {
      const asked = { charged: questions.charged };
      await assert.rejects(
        decide({ model, state: down, questions: asked, maxRetries: 0 }),
        (error) => APICallError.isInstance(error) && error.isRetryable,
      );
      const { answers } = await decide({ model, state: `charged ${busyOnce} (${name})`, questions: asked });
      assert.ok(answers.charged.probability > 0.8);
    });
  });
}
