import {
  agent,
  ask,
  bash,
  edit,
  failing,
  grep,
  person,
  read,
  todos,
  write,
  type Sample,
} from './demo-beats.ts'
import { RECIPE_CARD } from './demo-picture.ts'

const WORKDIR = '/home/demo/work/recipe-box'
const at = (path: string): string => `${WORKDIR}/${path}`

const STEPS = [
  'Map the old routes',
  'Set up the new app',
  'Move the recipes',
  'Move the search',
  'Move the images',
  'Remove the old app',
]

const OLD_ROUTES = [
  'app/views.py:14:@bp.route("/recipes")',
  'app/views.py:31:@bp.route("/recipes/<int:id>")',
  'app/views.py:52:@bp.route("/search")',
  'app/images.py:9:@bp.route("/images/<name>")',
]

const SUMMARY = `Summary:
1. Primary request: move the API from Flask to FastAPI, route by route, with every test green in between.
2. Done: the new app in api/main.py; GET /recipes, GET /recipes/{id} and POST /recipes; models in api/models.py.
3. Decisions: errors keep their old shape {"error": "..."}; ids stay integers; the search index is not touched.
4. Tests: 41 of 58 run against the new app, all green.
5. Next: move the search, then the images, then remove app/.`

/** Long enough that the model's window was full once. */
const LONG: Sample = {
  id: 'de300006-5a1e-4c0d-9f00-7ead1e5a0006',
  workdir: WORKDIR,
  gitBranch: 'fastapi',
  model: 'claude-opus-4-5-20251101',
  title: 'Move the API from Flask to FastAPI',
  endedMinutesAgo: 60 * 24 + 340,
  beats: [
    person(
      'Move this API from Flask to FastAPI. Go route by route, and keep the tests green in between. Clients must not notice.',
    ),
    agent({
      says: 'I start with a map of what there is.',
      runs: [
        todos(0, STEPS),
        grep('@bp.route', at('app'), OLD_ROUTES),
        read(
          at('app/views.py'),
          'bp = Blueprint("views", __name__)\n\n\n@bp.route("/recipes")\ndef recipes():\n    page = int(request.args.get("page", 1))\n    return jsonify([to_json(r) for r in Recipe.page(page)])',
          31_000,
        ),
        read(
          at('app/models.py'),
          'class Recipe(db.Model):\n    id = db.Column(db.Integer, primary_key=True)\n    title = db.Column(db.String, nullable=False)',
          24_000,
        ),
      ],
    }),
    agent({
      says: 'Four routes, and one habit to keep: errors are `{"error": "…"}`, while FastAPI would say `{"detail": "…"}`. I set up the new app beside the old one, with that habit built in.',
      runs: [
        write(
          at('api/main.py'),
          'from fastapi import FastAPI, HTTPException, Request\nfrom fastapi.responses import JSONResponse\n\napp = FastAPI()\n\n\n@app.exception_handler(HTTPException)\nasync def as_before(_: Request, error: HTTPException) -> JSONResponse:\n    """Clients know errors by this shape."""\n    return JSONResponse({"error": error.detail}, status_code=error.status_code)\n',
        ),
        todos(2, STEPS),
        failing(
          'pytest -q tests/test_recipes.py',
          'Run the tests of the first routes',
          "E   ModuleNotFoundError: No module named 'httpx'\n1 error in 0.21s",
        ),
      ],
    }),
    agent({
      says: 'The test client needs `httpx`.',
      runs: [
        bash(
          'uv add --dev httpx && pytest -q tests/test_recipes.py',
          'Add it and run again',
          '.........................................            [100%]\n41 passed in 2.86s',
        ),
        read(
          at('tests/test_search.py'),
          'def test_search_finds_umlauts(client):\n    assert client.get("/search?q=käse").json()["hits"] == 3',
          38_000,
        ),
      ],
    }),
    agent({ says: 'Recipes are moved: 41 tests green. Next is the search.' }),
    person('Good. Does anything depend on the order of search results?', { afterMinutes: 12 }),
    agent({
      runs: [
        grep('hits', at('web'), [
          'web/search.js:22:  const [best, ...others] = answer.hits',
          'web/search.js:40:  list.append(...others.map(toCard))',
        ]),
        read(
          at('app/search.py'),
          'def search(q: str) -> list[Hit]:\n    return sorted(index.find(q), key=lambda hit: -hit.score)',
          52_000,
        ),
      ],
    }),
    agent({
      says: 'Yes: the page takes the first hit as the best one (`web/search.js:22`). So the order by score has to stay, and I will add a test that says so.',
    }),
    { kind: 'compaction', summary: SUMMARY, tokensAfter: 12_400 },
    agent({
      says: 'I go on with the search.',
      runs: [
        write(
          at('api/search.py'),
          'from fastapi import APIRouter\n\nfrom app.search import search\n\nrouter = APIRouter()\n\n\n@router.get("/search")\ndef find(q: str = "") -> dict[str, list[dict]]:\n    """Best first: the page shows the first hit larger than the others."""\n    return {"hits": [hit.to_dict() for hit in search(q)]}\n',
        ),
        edit(
          at('tests/test_search.py'),
          'def test_search_finds_umlauts(client):',
          'def test_best_hit_comes_first(client):\n    scores = [hit["score"] for hit in client.get("/search?q=soup").json()["hits"]]\n    assert scores == sorted(scores, reverse=True)\n\n\ndef test_search_finds_umlauts(client):',
        ),
        bash(
          'pytest -q',
          'Run all tests',
          '..........................................................   [100%]\n59 passed in 4.02s',
        ),
        todos(4, STEPS),
      ],
    }),
    agent({
      says: 'The search is moved, with a test for the order. 59 tests are green; images and the farewell to Flask are left for tomorrow.',
    }),
  ],
}

/** A picture, and a question that a person answered. */
const CARD: Sample = {
  id: 'de300007-5a1e-4c0d-9f00-7ead1e5a0007',
  workdir: WORKDIR,
  gitBranch: 'recipe-card',
  model: 'claude-sonnet-4-5-20250929',
  title: 'Build the recipe card from a sketch',
  endedMinutesAgo: 60 * 24 * 9 + 20,
  beats: [
    person('This is a sketch of the new recipe card. Can you build it?', { image: RECIPE_CARD }),
    agent({
      says: 'A picture on the left; title, author and a few lines of text beside it; below them one button that stands out and one that does not. One thing the sketch leaves open:',
      runs: [
        ask(
          'What should the green button do?',
          {
            'Start cooking': 'Opens the recipe step by step',
            'Add to plan': 'Puts it on the plan of the week',
            Share: 'Copies a link',
          },
          { header: 'Button', answer: 'Start cooking' },
        ),
      ],
    }),
    agent({
      says: 'Then the quiet one next to it is for the plan of the week.',
      runs: [
        write(
          at('web/recipe-card.html'),
          '<article class="card">\n  <img src="" alt="" />\n  <div>\n    <h2></h2>\n    <p class="author"></p>\n    <p class="intro"></p>\n    <a class="primary" href="">Start cooking</a>\n    <a href="">Add to plan</a>\n  </div>\n</article>\n',
        ),
        write(
          at('web/recipe-card.css'),
          '.card {\n  display: grid;\n  grid-template-columns: 2fr 3fr;\n  gap: 1rem;\n  border-radius: 0.9rem;\n  background: white;\n}\n\n@media (max-width: 30rem) {\n  .card {\n    grid-template-columns: 1fr;\n  }\n}\n',
        ),
      ],
    }),
    agent({
      says: 'The card is in `web/recipe-card.html`. On a phone the picture stands above the text, because beside it there would be room for three words per line.',
    }),
  ],
}

/** Sample sessions about a collection of recipes. */
export const RECIPES: readonly Sample[] = [LONG, CARD]
